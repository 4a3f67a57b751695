"""Compares the module with Python's own weak dictionaries: `.ci/python bench`. An argument is the number of rounds.

The rounds of all rows are interleaved, and each ratio is the median of the ratios of the rounds: other work on the machine
disturbs both sides of a ratio alike.
"""

import gc
import statistics
import sys
import time
import weakref

from weakly_example import Node, Tensor, WeakDictionary, alive, kept, release

ROUNDS = int((sys.argv[1:] or [101])[0])


class Object:
    """What Python's own dictionaries are about."""

    __slots__ = ("base", "__weakref__")


class Owner:
    """What Python's own code would use in place of a node."""

    def __init__(self, size=0):
        self.size = size


def get(table, keys):
    for key in keys:
        table[key]


def set_(table, keys):
    for key in keys:
        table[key] = 1


def life(table, make, number):
    for _ in range(number):
        key = make()
        table[key] = 1
        del key


def make_only(make, number):
    for _ in range(number):
        key = make()
        del key


def bases(views):
    for view in views:
        view.base


def values(table, names):
    for name in names:
        table[name]


def attribute(keys):
    for key in keys:
        key.x = key.x


def clock(number, run, *args):
    begin = time.process_time()
    run(*args)
    return (time.process_time() - begin) / number * 1e9


def rows(number):
    """The rows for so many objects: a name, and for each side a function that returns nanoseconds."""
    tensor, node, plain = lambda: Tensor(0), lambda: Node(0), lambda: Object()
    ours, nodes_, theirs = WeakDictionary(), WeakDictionary(), weakref.WeakKeyDictionary()
    by_name = weakref.WeakValueDictionary()
    tensors, nodes, plains = ([make() for _ in range(number)] for make in (tensor, node, plain))
    owners = [Owner() for _ in range(number)]
    set_(ours, tensors), set_(nodes_, nodes), set_(theirs, plains)
    views = [it.view() for it in tensors]
    for name, it in enumerate(plains):
        by_name[name] = it
    for it in nodes + owners:
        it.x = 1
    for it in nodes:
        it.keep()

    def lives(table, make):
        return lambda: clock(number, life, table, make, number) - clock(number, make_only, make, number)

    found = lambda: clock(number, values, by_name, range(number))
    yield "get", lambda: clock(number, get, nodes_, nodes), lambda: clock(number, get, theirs, plains)
    yield "set", lambda: clock(number, set_, nodes_, nodes), lambda: clock(number, set_, theirs, plains)
    yield "make, set and die, less make and drop", lives(nodes_, node), lives(theirs, plain)
    yield "the same, with a wrapper in a map", lives(ours, tensor), lives(theirs, plain)
    yield "lookup of a living wrapper", lambda: clock(number, kept), found
    yield "lookup of a wrapper in a map", lambda: clock(number, bases, views), found
    yield "read and set of an attribute", lambda: clock(number, attribute, nodes), lambda: clock(number, attribute, owners)


def main():
    print(f"CPython {sys.version.split()[0]}, {ROUNDS} rounds: ns for each operation")
    for number in (100, 2000):
        gc.disable()
        all = list(rows(number))
        rounds = [[(ours(), theirs()) for _, ours, theirs in all] for _ in range(ROUNDS)]
        gc.enable()
        print(f"{f'{number} objects':40} {'weakly':>8} {'Python':>8} {'quotient':>9}")
        for at, (name, _, _) in enumerate(all):
            one, other = zip(*(times[at] for times in rounds))
            ratio = statistics.median(a / b for a, b in zip(one, other))
            print(f"{name:40} {statistics.median(one):8.0f} {statistics.median(other):8.0f} {ratio:9.2f}")
        del all
        release(True)
        gc.collect()
    print("alive:", alive())


main()
