"""Compares the module with Python's own weak dictionaries: `.ci/python bench`. An argument is the number of rounds.

The rounds of all rows are interleaved, and each ratio is the median of the ratios of the rounds: other work on the machine
disturbs both sides of a ratio alike.
"""

import gc
import statistics
import sys
import time
import weakref

from weakly_example import Parameter, Tensor, WeakDictionary, alive, kept, release

OBJECTS, ROUNDS = 2000, int((sys.argv[1:] or [101])[0])


class Object:
    """What Python's own dictionaries are about."""

    __slots__ = ("base", "__weakref__")


def objects(make):
    return [make() for _ in range(OBJECTS)]


def get(table, keys):
    for key in keys:
        table[key]


def set_(table, keys):
    for key in keys:
        table[key] = 1


def life(table, make):
    for _ in range(OBJECTS):
        key = make()
        table[key] = 1
        del key


def make_only(make):
    for _ in range(OBJECTS):
        key = make()
        del key


def bases(views):
    for view in views:
        view.base


def values(table, names):
    for name in names:
        table[name]


def clock(run, *args):
    begin = time.process_time()
    run(*args)
    return (time.process_time() - begin) / OBJECTS * 1e9


def main():
    tensor, plain = lambda: Tensor(0), lambda: Object()
    ours, theirs, by_name = WeakDictionary(), weakref.WeakKeyDictionary(), weakref.WeakValueDictionary()
    tensors, plains = objects(tensor), objects(plain)
    set_(ours, tensors), set_(theirs, plains)
    views = [it.view() for it in tensors]
    for name, it in enumerate(plains):
        by_name[name] = it
    parameters = [Parameter(0) for _ in range(OBJECTS)]
    rows = {
        "get": (lambda: clock(get, ours, tensors), lambda: clock(get, theirs, plains)),
        "set": (lambda: clock(set_, ours, tensors), lambda: clock(set_, theirs, plains)),
        "make, set and die, less make and drop": (
            lambda: clock(life, ours, tensor) - clock(make_only, tensor),
            lambda: clock(life, theirs, plain) - clock(make_only, plain),
        ),
        "lookup of a wrapper": (lambda: clock(bases, views), lambda: clock(values, by_name, range(OBJECTS))),
    }
    for parameter in parameters:
        parameter.keep()
    rows["lookup of a resurrected wrapper"] = (lambda: clock(kept), rows["lookup of a wrapper"][1])
    gc.disable()
    rounds = [{row: (one(), other()) for row, (one, other) in rows.items()} for _ in range(ROUNDS)]
    gc.enable()
    print(f"{'ns for each operation':40} {'weakly':>8} {'Python':>8} {'quotient':>9}")
    for row in rows:
        one, other = zip(*(times[row] for times in rounds))
        ratio = statistics.median(a / b for a, b in zip(one, other))
        print(f"{row:40} {statistics.median(one):8.0f} {statistics.median(other):8.0f} {ratio:9.2f}")
    del parameters, parameter, tensors, views
    release(True)
    gc.collect()
    print("alive:", alive())


main()
