"""Tests of `weakly_example`. `.ci/python` builds the module, and runs the tests."""

import gc
import functools
import itertools
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time
import unittest
import weakref

from weakly_example import Compiler, Node, Tensor, Token, WeakDictionary, alive, collect, kept, release, upgrade_until_dead

MADE, GONE = itertools.count(), itertools.count()  # atomic, unlike `+=`


class Value:
    """The destructor uses dictionaries."""

    table, other = WeakDictionary(), Tensor(0)

    def __init__(self, refers_to=None):
        next(MADE)
        self.refers_to = refers_to

    def __del__(self):
        Value.other.seen = Value.table[Value.other] = len(Value.table)
        next(GONE)


class Function:
    def __init__(self, parameter):
        self.token, self.parameter = Token(), parameter

    def compile(self, variant):
        return Value(variant), [self.parameter]


def left(search=False):
    """The numbers of native objects and values, after a last release and collection, by `collect` too if `search`."""
    release(True)
    for _ in range(5):
        gc.collect()
        if search:
            collect()
        natives = alive()
    return natives - 1, next(MADE) - next(GONE)


def script(text, timeout=60):
    """Runs a program in another process, and returns what it prints."""
    run = subprocess.run([sys.executable, "-c", text], capture_output=True, timeout=timeout, text=True)
    assert run.returncode == 0, (run.returncode, run.stdout, run.stderr)
    return run.stdout


class Case(unittest.TestCase):
    def tearDown(self):
        self.assertEqual(left(), (0, 0))


class Wrappers(Case):
    def test_one_wrapper_for_each_object(self):
        tensor = Tensor(3)
        view, first = tensor.view(), weakref.ref(tensor)
        self.assertIs(view.base, tensor)
        del tensor
        self.assertEqual((first(), view.base.size, alive()), (None, 3, 3))
        self.assertIs(view.base, view.base)

    def test_the_making_of_a_wrapper_runs_the_collector(self):
        tensor, made, thresholds = Tensor(3), [], gc.get_threshold()
        view = tensor.view()
        del tensor
        gc.callbacks.append(lambda phase, info: made.append(view.base))
        gc.set_threshold(1)
        last = view.base
        gc.set_threshold(*thresholds)
        gc.callbacks.pop()
        # From CPython 3.12 on, an allocation only asks for a collection.
        self.assertTrue(made or sys.version_info >= (3, 12))
        self.assertLessEqual({id(it) for it in made}, {id(last)})

    def test_attributes_belong_to_the_native_object(self):
        view = Tensor(3).view()
        view.base.name = "weights"
        self.assertEqual(view.base.name, "weights")
        self.assertRaises(AttributeError, lambda: view.name)

    def test_the_collector_finds_cycles_through_attributes(self):
        tensor = Tensor(3)
        view = tensor.view()
        view.value, tensor.me = Value(view), tensor

    def test_the_collector_spares_what_native_code_keeps(self):
        tensor = Tensor(3)
        tensor.me = tensor
        tensor.keep()
        del tensor
        gc.collect()
        (tensor,) = kept()
        self.assertIs(tensor.me, tensor)


class Nodes(Case):
    """The whole wrapper."""

    def test_attributes_live_as_long_as_the_object(self):
        node = Node(3)
        node.state = {"value": Value()}
        address, weak = id(node), weakref.ref(node)
        node.keep()
        for _ in range(3):
            del node
            gc.collect()
            (node,) = kept()
            self.assertEqual((id(node), weak(), len(node.state), node.size), (address, node, 1, 3))
        del node
        self.assertEqual((left(), weak()), ((0, 0), None))

    def test_a_node_has_a_dictionary(self):
        node = Node(1)
        self.assertEqual(node.__dict__, {})
        node.x, node.__dict__["y"] = 1, 2
        self.assertEqual((vars(node), node.y), ({"x": 1, "y": 2}, 2))
        del node.x
        node.__dict__ = {"z": Value()}
        self.assertEqual(list(vars(node)), ["z"])
        self.assertRaises(AttributeError, lambda: node.x)

    def test_inputs_come_back_as_the_same_wrappers(self):
        one, other = Node(1), Tensor(2)
        node = Node(inputs=[one, other, one])
        addresses = [id(it) for it in node.inputs]
        self.assertEqual(addresses, [id(one), id(other), id(one)])
        one.name = "one"
        del one
        self.assertEqual((node.inputs[0].name, id(node.inputs[2])), ("one", addresses[0]))
        node.inputs = []
        self.assertEqual((node.inputs, alive()), ([], 3))
        self.assertRaises(TypeError, setattr, node, "inputs", [1])
        self.assertRaises(TypeError, Node, "one")

    def test_a_derived_class(self):
        class Linear(Node):
            def __init__(self, name):
                super().__init__(5)
                self.name = name

            def __repr__(self):
                return f"Linear({self.name})"

        node = Linear("a")
        node.keep()
        del node
        (node,) = kept()
        self.assertEqual((repr(node), node.size, type(node)), ("Linear(a)", 5, Linear))

    def test_a_class_derived_from_two(self):
        class Mixin:
            def __init_subclass__(cls):
                pass  # without `super()`

            def double(self):
                return 2 * self.size

        class Both(Mixin, Node):
            pass

        class Third(Both):
            pass

        for made in (Both(4), Third(4)):
            made.value = Value()
            made.keep()
            del made
            self.assertEqual((kept()[0].double(), type(kept()[0].value)), (8, Value))
            release(True)

    def test_a_class_with_slots_is_refused(self):
        class Slots(Node):
            __slots__ = ("x",)

        class Empty(Node):
            __slots__ = ()

        self.assertRaises(TypeError, Slots)
        Empty().x = Value()

    def test_an_unusual_new(self):
        class Singleton(Node):
            made = None

            def __new__(cls, *args):
                cls.made = cls.made or super().__new__(cls)
                return cls.made

        one = Singleton(1)
        self.assertIs(Singleton(2), one)
        self.assertEqual(one.size, 2)
        self.assertRaises(TypeError, object.__new__, Node)
        Singleton.made = None

    def test_another_class_for_a_node(self):
        class A(Node):
            pass

        class B(Node):
            def __del__(self):
                dead.append(self.name)

        dead, node = [], A(1)
        node.name, node.value, node.__class__ = "x", Value(), B
        node.keep()
        del node
        self.assertEqual(dead, [])  # parked: no `__del__` runs
        self.assertEqual((kept()[0].name, type(kept()[0])), ("x", B))
        release(True)
        alive()
        self.assertEqual(dead, ["x"])

    def test_del_runs_once_when_the_object_dies(self):
        class Dies(Node):
            def __del__(self):
                dead.append((self.name, self.size))

        dead, node = [], Dies(7)
        node.name = "x"
        node.keep()
        for _ in range(3):
            del node
            gc.collect()
            (node,) = kept()
        self.assertEqual(dead, [])
        release(True)
        self.assertEqual(dead, [])
        del node
        self.assertEqual(dead, [("x", 7)])

    def test_del_of_a_wrapper_whose_object_is_dead(self):
        class Dies(Node):
            def __del__(self):
                try:
                    dead.append((self.name, self.size))
                except ReferenceError as error:
                    dead.append((self.name, str(error)))

        dead, node = [], Dies(7)
        node.name = "x"
        node.keep()
        del node  # parked: the worker drops the last handle
        release(True)
        alive()
        self.assertEqual(dead, [("x", "the native object is dead")])

    def test_del_that_brings_the_wrapper_back(self):
        class Back(Node):
            def __del__(self):
                back.append(self)

        back, node = [], Back(7)
        node.value, weak = Value(), weakref.ref(node)
        del node
        (node,) = back
        back.clear()
        self.assertEqual((node.size, weak(), alive()), (7, node, 2))
        node.keep()
        del node
        self.assertEqual(kept()[0].size, 7)
        release(True)
        alive()
        self.assertEqual((back, weak(), alive()), ([], None, 1))

    def test_del_that_gives_the_object_to_native_code(self):
        class Gives(Node):
            def __del__(self):
                self.keep()

        node = Gives(7)
        node.value, address = Value(), id(node)
        del node
        gc.collect()
        self.assertEqual([(id(it), it.size, type(it.value)) for it in kept()], [(address, 7, Value)])

    def test_del_that_raises(self):
        class Raises(Node):
            def __del__(self):
                raise KeyError("x")

        unraisable, hook = [], sys.unraisablehook
        sys.unraisablehook = lambda it: unraisable.append(it.exc_type)
        try:
            Raises(1).value = Value()
        finally:
            sys.unraisablehook = hook
        self.assertEqual(unraisable, [KeyError])

    def test_a_weak_reference_finds_a_parked_wrapper(self):
        node = Node(3)
        weak, node.value = weakref.ref(node), Value()
        node.keep()
        del node
        node = weak()  # parked, until an attribute is read
        self.assertEqual(node.size, 3)
        release(True)
        self.assertEqual((node.size, alive()), (3, 2))
        del node
        self.assertEqual((weak(), alive()), (None, 1))

    def test_a_write_to_a_parked_wrapper(self):
        node = Node(3)
        weak = weakref.ref(node)
        node.keep()
        del node
        node = weak()
        node.value = Value()
        release(True)
        self.assertEqual((node.size, alive()), (3, 2))

    def test_a_thread_upgrades_during_collections(self):
        node, called = Node(1), []
        node.value = Value()
        node.value.itself = node.value
        weak = weakref.ref(node.value, called.append)
        upgrade_until_dead(node)
        for _ in range(200):
            gc.collect()
        self.assertEqual((called, weak()), ([], node.value))
        name = weakref.ref(node)
        del node
        while name():
            alive()

    def test_a_parked_wrapper_that_outlives_its_object(self):
        node = Node(3)
        weak, node.value = weakref.ref(node), Value()
        node.keep()
        del node
        node = weak()
        release(True)
        alive()
        self.assertRaises(ReferenceError, lambda: node.size)
        self.assertIsInstance(node.value, Value)

    def test_callbacks_of_weak_references(self):
        called, node = [], Node(3)
        weak = weakref.ref(node, lambda _: called.append(alive()))
        node.keep()
        del node
        gc.collect()
        self.assertEqual(called, [])
        release(True)
        alive()
        self.assertEqual((len(called), weak()), (1, None))

    def test_copies_of_a_dictionary(self):
        node = Node(3)
        attributes = vars(node)
        attributes["value"] = Value()
        node.keep()
        del node
        self.assertIs(vars(kept()[0]), attributes)
        release(True)
        alive()
        self.assertIsInstance(attributes["value"], Value)

    def test_a_long_chain(self):
        node = None
        for _ in range(100_000):
            node = Node(1, [node] if node else [])
            node.value = 1
        node = None
        self.assertEqual(alive(), 1)
        for _ in range(100_000):
            other = Node(1)
            other.next, node = node, other
        del other
        node = None
        self.assertEqual(alive(), 1)

    def test_a_wrapper_that_is_freed_while_its_object_lives(self):
        text = "from weakly_example import *; it = Node(3); it.state = []; it.keep(); del it\n"
        text += "shutdown(); (it,) = kept(); print(type(it).__name__, it.size, vars(it), kept()[0] is it)"
        self.assertEqual(script(text), "Node 3 {} True\n")

    def test_code_after_the_end_of_the_module(self):
        text = """import sys
from weakly_example import Node, kept
class Named(Node):
    def __del__(self, out=sys.stderr.write): out(f"{self.size} ")
p = Named(3); p.state = [1, 2]; p.keep(); del p
class Late:
    def __del__(self, kept=kept, out=sys.stdout.write):
        (it,) = kept(); out(f"{it.size} {hasattr(it, 'state')}")
late = Late()"""
        self.assertEqual(script(text), "3 False")


class Cycles(Case):
    """Cycles through both worlds, by Python's collector and by ours."""

    def test_a_node_in_its_own_dictionary(self):
        node = Node(3)
        node.me, node.value = node, Value(node)

    def test_native_code_keeps_a_cycle(self):
        node = Node(3)
        node.me, weak = node, weakref.ref(node)
        node.keep()
        del node
        gc.collect()
        (node,) = kept()
        self.assertEqual((node.me, weak()), (node, node))
        del node
        self.assertEqual((left(), weak()), ((0, 0), None))

    def test_native_code_keeps_a_node_of_a_dead_list(self):
        """Python's collector ends weak references, and the attributes stay."""
        node = Node(3)
        node.value, weak, all = Value(), weakref.ref(node), [node]
        all.append(all)
        node.keep()
        del node, all
        gc.collect()
        self.assertEqual((weak(), type(kept()[0].value)), (None, Value))

    def test_native_code_keeps_a_node_of_a_dead_node(self):
        """Python's collector clears the dead node first, and so the other wrapper is parked before its turn."""
        for inputs in (0, 1):
            dead, node = Node(1), Node(2)
            dead.me, dead.x, dead.inputs, node.value = dead, node, [node] * inputs, Value()
            node.keep()
            del dead, node
            gc.collect()
            self.assertEqual(type(kept()[0].value), Value)
            release(True)

    def test_through_inputs_to_a_parked_wrapper(self):
        """Python's collector finds it: the wrapper shows the parked wrappers of the objects that it alone owns."""
        node = Node(1)
        user = Node(2, [Node(3, [node])])
        node.user, node.value = user, Value()
        del node, user
        self.assertEqual(left(), (0, 0))

    def test_a_value_with_two_owners(self):
        """Python's collector sees nothing: native code owns the value, too."""
        v, x = Node(1), Node(2)
        v.me, v.other, v.value, x.inputs = v, x, Value(), [v]
        del v, x
        self.assertEqual(left(), (2, 1))
        self.assertGreater(collect(), 0)
        self.assertEqual(left(), (0, 0))

    def test_collect_spares_what_is_in_use(self):
        v, x = Node(1), Node(2)
        v.me, v.other, v.value, x.inputs = v, x, Value(), [v]
        del x
        collect()
        self.assertIs(v.other.inputs[0].me, v)
        v.keep()
        del v
        collect()
        (v,) = kept()
        self.assertIs(v.other.inputs[0].me, v)
        del v
        self.assertEqual(left(True), (0, 0))

    def test_collect_spares_what_a_frame_has(self):
        def generate(node):
            yield node

        v = Node(1)
        v.me, x = v, Node(2, [v])
        v.x, running = x, generate(v)
        del v, x
        collect()
        (v,) = running
        self.assertIs(v.x.inputs[0], v)
        del v
        running.close()
        self.assertEqual(left(True), (0, 0))

    def test_through_containers_of_all_kinds(self):
        class Plain:
            def method(self):
                return self.node

        v, x, plain = Node(1), Node(2), Plain()
        x.inputs, plain.node = [v], v
        closure = (lambda captured: lambda: captured)(v)
        v.all = [{"a": (x, {plain.method})}, closure, functools.partial(print, x), iter([v])]
        v.me, v.value = v, Value(x)
        del v, x, plain, closure
        self.assertNotEqual(left(), (0, 0))
        self.assertEqual(left(True), (0, 0))

    def test_through_parked_wrappers(self):
        v = Node(1)
        x = Node(2, [v])
        v.other, v.value = x, Value()
        x.keep()
        del v, x
        collect()
        self.assertEqual(kept()[0].inputs[0].other, kept()[0])
        self.assertEqual(left(True), (0, 0))

    def test_through_an_entry_of_a_dictionary(self):
        """The dictionary lives: a value that owns its key is kept for ever by reference counts."""
        table, node = WeakDictionary(), Node(1)
        table[node] = [node, Value()]
        del node
        self.assertEqual((left(), len(table)), ((1, 1), 1))
        self.assertEqual((collect() > 0, len(table), left()), (True, 0, (0, 0)))

    def test_through_two_dictionaries_and_a_tensor(self):
        one, other, node, tensor = WeakDictionary(), WeakDictionary(), Node(1), Tensor(2)
        one[node], other[tensor], tensor.value = [tensor], [node], Value()
        del node, tensor
        self.assertEqual((left(), len(one), len(other)), ((2, 1), 1, 1))
        collect()
        self.assertEqual((left(), len(one), len(other)), ((0, 0), 0, 0))

    def test_del_in_a_collected_cycle(self):
        class Dies(Node):
            def __del__(self):
                dead.append((self.name, self.other.name, self.size))

        dead, v, x = [], Dies(1), Dies(2)
        v.name, x.name, v.me, v.other, x.other, x.inputs = "v", "x", v, x, v, [v]
        del v, x
        collect()
        self.assertEqual((sorted(dead), alive()), ([("v", "x", 1), ("x", "v", 2)], 1))

    def test_del_in_a_collected_cycle_brings_it_back(self):
        class Back(Node):
            def __del__(self):
                back.append(self)

        back, v, x = [], Back(1), Node(2)
        v.me, v.other, v.value, x.inputs = v, x, Value(), [v]
        del v, x
        collect()
        (v,) = back
        back.clear()
        self.assertIs(v.other.inputs[0].me, v)
        del v
        self.assertEqual((left(True), back), ((0, 0), []))

    def test_weak_references_end_before_objects_are_cleared(self):
        class Plain:
            pass

        seen, all = [], [Plain() for _ in range(20)]
        weak = [weakref.ref(it) for it in all]
        callbacks = [weakref.ref(it, lambda _: seen.extend(found for it in weak if (found := it()))) for it in all]
        count = [weakref.ref(it, lambda _: seen.append(None)) for it in all]
        v, x = Node(1), Node(2, [])
        v.me, v.other, v.all, x.inputs = v, x, all, [v]
        for at, it in enumerate(all):
            it.next, it.node = all[at - 1], v
        del v, x, it, all
        self.assertGreater(collect(), 0)
        self.assertEqual((seen, left(), {it() for it in callbacks + count}), ([None] * 20, (0, 0), {None}))

    def test_through_the_frames_of_an_exception(self):
        def fails():
            v, x = Node(1), Node(2)
            v.x, x.inputs = x, [v]
            try:
                raise KeyError
            except KeyError as error:
                v.error = error

        fails()
        self.assertNotEqual(left(), (0, 0))
        self.assertEqual(left(True), (0, 0))

    def test_native_rings(self):
        one, other = Node(1), Node(2)
        one.inputs, other.inputs, one.value, other.name = [other, one], [one], Value(), "other"
        del one, other
        self.assertEqual(left(), (2, 1))
        collect()
        self.assertEqual(left(), (0, 0))

    def test_many_cycles(self):
        for _ in range(1000):
            v, x = Node(1), Node(2)
            v.me, v.other, x.inputs = v, x, [v]
        del v, x
        self.assertGreater(alive(), 1000)
        self.assertEqual(left(True), (0, 0))


class Dictionary(Case):
    def test_entries_live_as_long_as_the_native_object(self):
        table, tensor = WeakDictionary(), Tensor(3)
        table[tensor] = Value()
        self.assertRaises(KeyError, lambda: table[Tensor(3)])
        self.assertRaises(KeyError, table.__delitem__, Tensor(3))
        view = tensor.view()
        del tensor
        self.assertTrue(view.base in table and isinstance(table.get(view.base), Value))
        view.keep()
        del view
        release(True)  # on a thread without Python's lock
        self.assertEqual((len(table), left()), (0, (0, 0)))

    def test_a_dictionary_in_itself(self):
        table, tensor = WeakDictionary(), Tensor(3)
        table[tensor], weak = (table, tensor, Value()), weakref.ref(table)
        del table, tensor
        self.assertEqual((left(), weak()), ((0, 0), None))


class Compile(Case):
    def test_a_dead_guard_leaves_no_graph(self):
        """In PyTorch, graphs once stayed whose guards were dead, and failed for ever (#93728)."""
        compiler, function = Compiler(), Function(Tensor(0))
        for step in range(1000):
            for variant in ("float", "half", "float"):
                graph = compiler.get(function.token, variant, function.compile)
                self.assertIs(graph, compiler.get_once(function.token, variant, function.compile))
            self.assertEqual((len(compiler), alive()), (2, 2))
            graph, function.parameter = weakref.ref(graph), Tensor(step)  # as an optimiser does
            self.assertEqual((alive(), len(compiler), graph()), (2, 0, None))
        compiler.get(function.token, "float", function.compile)
        del function
        self.assertEqual(len(compiler), 0)

    def test_a_failure_is_not_kept(self):
        compiler, token = Compiler(), Token()
        self.assertRaises(ZeroDivisionError, compiler.get, token, "", lambda _: 1 // 0)
        self.assertEqual(compiler.get(token, "", lambda _: (1, [token])), 1)


class Deadlocks(unittest.TestCase):
    """The naive form hangs, and the right forms end."""

    HEAD = "import threading, time\nfrom weakly_example import *\ntensor = Tensor(0)\n"
    DEATH = "{}; tensor.keep(); del tensor; release(True)"
    LOCKED = """class Looks:
    def __del__(self): len(locked)
locked = Locked(); locked.set(tensor, Looks()); del tensor; locked.{}()"""
    COMPILE = """compile, compiler, token = lambda _: (time.sleep(0.5), []), Compiler(), Token()
threads = [threading.Thread(target=compiler.{}, args=(token, "", compile)) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()"""
    EXIT = """all = [Tensor(0) for _ in range(10_000)]; d = WeakDictionary()
for it in all: d[it] = it.x = []; it.keep()
del it, all; {}"""

    def check_forms(self, script, forms, naive=None):
        run = lambda form, seconds: subprocess.run(
            [sys.executable, "-c", self.HEAD + script.format(form)], check=True, timeout=seconds)
        if naive:
            self.assertRaises(subprocess.TimeoutExpired, run, naive, 5)
        for form in forms:
            run(form, 120)

    def test_deaths_without_the_lock(self):
        self.check_forms(self.DEATH, ["d = WeakDictionary(); d[tensor] = []"], "on_death_at_once(tensor, list)")
        self.check_forms(self.EXIT, ["release(False)"])

    def test_values_destroyed_under_a_lock(self):
        self.check_forms(self.LOCKED, ["purge"], "purge_naive")

    def test_threads_that_compile_the_same(self):
        self.check_forms(self.COMPILE, ["get", "get_once"], "get_naive")


class Ends(unittest.TestCase):
    """The end of the interpreter, and forks."""

    END = """import faulthandler, gc, threading
from weakly_example import *
faulthandler.dump_traceback_later(45, exit=True)
class Sub(Node):
    def __del__(self): table[self] = self.size
table, all = WeakDictionary(), [Sub(it) for it in range(100)]
for at, it in enumerate(all):
    it.inputs, it.next, table[it] = [all[at - 1]], all[at - 2], [it]
    it.keep()
parked = Node(1, [Node(2)]); parked.me = [parked]; parked.inputs[0].x = 1; parked.keep()
def spin():
    while True:
        node = Node(1); node.x = Tensor(2); node.x.y = table; node.keep(); del node
        release(False)
for _ in range(3): threading.Thread(target=spin, daemon=True).start()
import time; time.sleep(0.05)
"""

    def test_the_end_of_the_interpreter(self):
        for _ in range(int(os.environ.get("WEAKLY_ENDS", 2))):
            for allocator in ("default", "debug"):
                for last in ("", "del it, parked, all\n", "collect()\n", "release(True)\n"):
                    env = dict(os.environ, PYTHONMALLOC=allocator)
                    run = subprocess.run([sys.executable, "-c", self.END + last], env=env, timeout=60)
                    self.assertEqual(run.returncode, 0)

    # On a thread, as only the main thread makes pending calls. The end of a node settles, and so uses each map with dead entries.
    DYING = """import random, threading
from weakly_example import *
def run():
    for _ in range(400):
        for it in range(300): Node(it).keep()
        release(False)
        for _ in range(random.randrange(6000)): pass
        shutdown()
thread = threading.Thread(target=run); thread.start(); thread.join()
print("ended")
"""

    def test_a_map_is_emptied_while_its_objects_die(self):
        self.assertEqual(script(self.DYING, 30), "ended\n")

    def test_children_of_forks(self):
        """Other threads use all maps, with Python's lock, and native code drops objects without it."""
        table, compiler, stop = WeakDictionary(), Compiler(), threading.Event()

        def use():
            while not stop.is_set():
                node, tensor = Node(1), Tensor(2)
                table[node] = node.x = table[tensor] = tensor.y = []
                node.keep(), tensor.keep()
                del node, tensor
                release(False)

        threads = [threading.Thread(target=use) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(int(os.environ.get("WEAKLY_FORKS", 20))):
                mine = Node(1, [Tensor(2)])
                mine.x = table[mine] = mine
                child = os.fork()
                if child == 0:
                    signal.alarm(20)
                    del table[mine]
                    for it in range(100):
                        node = Node(1, [mine])
                        node.x, table[node], mine.y = mine, node, node
                        del node
                    del mine
                    gc.collect()
                    collect()
                    os._exit(len(table) < 0)
                self.assertEqual(os.waitpid(child, 0)[1], 0)
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        del mine
        self.assertEqual(left(True)[0], 0)


class Imports(unittest.TestCase):
    def test_a_second_import(self):
        text = "import sys; from weakly_example import Node as First; it = First(3)\n"
        text += "del sys.modules['weakly_example']; from weakly_example import Node; print(Node is First, it.size)"
        self.assertEqual(script(text), "True 3\n")

    def test_another_interpreter_is_refused(self):
        other = "try: import weakly_example\nexcept ImportError: print('refused', flush=True)"
        text = f"""from weakly_example import Node
try: import _xxsubinterpreters as interpreters
except ImportError: import _interpreters as interpreters
it, other = Node(3), interpreters.create()
interpreters.run_string(other, {other!r})
print(it.size)
interpreters.destroy(other)"""
        self.assertEqual(script(text), "refused\n3\n")


class Derived(Node):
    def __init__(self, step):
        super().__init__(step)
        self.step = step

    def __del__(self):
        Value.other.seen = self.step


class Scripts(Case):
    def tearDown(self):
        self.assertEqual(left(True), (0, 0))

    def script(self, rng, table, compiler, steps):
        own = []
        for step in range(steps):
            if len(own) < 20:
                own.append(rng.choice([Tensor, Node, Derived])(step))
            at = rng.randrange(len(own))
            one, other = own[at], rng.choice(own)
            if isinstance(one, Node):
                one.state = Value(one if rng.random() < 0.5 else other)
                one.inputs = rng.sample(own, min(len(own), rng.randrange(3)))
                self.assertEqual(getattr(one, "step", one.size), one.size)
            else:
                one.value = Value(other)
                table[one] = Value(rng.choice([None, one.view(), table, other]))
                function = Function(one if rng.random() < 0.5 else Token())
                graph = compiler.get(function.token, "float", function.compile)
                self.assertIs(compiler.get_once(function.token, "float", function.compile), graph)
                self.assertIsInstance(table.get(one), Value)
            if (kind := rng.random()) < 0.3:
                one.keep()
            elif kind < 0.32:
                own.extend(rng.sample(there, 1) if (there := kept()) else [])
            elif kind < 0.35:
                release(rng.random() < 0.5)
            elif kind < 0.36:
                gc.collect(rng.randrange(3))
            elif kind < 0.362:
                collect()
            elif kind < 0.8:
                del own[at]

    def test_four_threads(self):
        self.addCleanup(sys.setswitchinterval, sys.getswitchinterval())
        sys.setswitchinterval(1e-5)
        table, compiler, failures = WeakDictionary(), Compiler(), []
        threading.excepthook = failures.append
        run = lambda seed: self.script(random.Random(seed), table, compiler, 2000)
        seed, end = 0, time.monotonic() + float(os.environ.get("WEAKLY_SCRIPT_SECONDS", 0))
        while seed == 0 or time.monotonic() < end:
            threads = [threading.Thread(target=run, args=(seed + it,)) for it in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual((failures, left(True)), ([], (0, 0)), seed)
            seed += 4

    def test_memory_is_flat(self):
        pages = lambda: int(pathlib.Path("/proc/self/statm").read_text().split()[1])
        table, compiler, function = WeakDictionary(), Compiler(), Function(Token())
        for call in range(110_000):
            tensor = Tensor(call)
            tensor.value = table[tensor] = call
            function.parameter = tensor
            compiler.get(function.token, "float", function.compile)
            node = Node(call, [Node(1)])
            node.value = call
            node.keep()
            del node
            if call % 100 == 0:
                release(True)
            if call == 10_000:
                before = pages()
        self.assertLess(pages() - before, 200)
