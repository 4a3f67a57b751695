"""Tests of `weakly_example`. `.ci/python` builds the module, and runs the tests."""

import gc
import itertools
import pathlib
import random
import subprocess
import sys
import threading
import unittest
import weakref

from weakly_example import Compiler, Parameter, Tensor, Token, WeakDictionary, alive, kept, release

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


def left():
    """The numbers of native objects and values, after a last release and collection."""
    release(True)
    for _ in range(5):
        gc.collect()
        natives = alive()
    return natives - 1, next(MADE) - next(GONE)


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
        self.assertEqual({id(it) for it in made}, {id(last)})

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

    def test_a_wrapper_with_state_lives_as_long_as_its_object(self):
        parameter = Parameter(3)
        parameter.state = {"value": Value()}
        address, weak = id(parameter), weakref.ref(parameter)
        parameter.keep()
        for _ in range(3):
            del parameter
            gc.collect()
            (parameter,) = kept()
            self.assertEqual((id(parameter), weak(), len(parameter.state)), (address, parameter, 1))
        parameter.state["me"] = parameter  # a cycle, which native code keeps
        del parameter
        gc.collect()
        self.assertIs(kept()[0].state["me"], weak())
        self.assertEqual((left(), weak()), ((0, 0), None))

    def test_a_wrapper_that_is_freed_while_its_object_lives(self):
        script = "from weakly_example import *; it = Parameter(3); it.state = []; it.keep(); del it\n"
        script += "shutdown(); (it,) = kept(); print(type(it).__name__, it.size, kept()[0] is it)"
        run = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=60)
        self.assertEqual((run.returncode, run.stdout), (0, b"Tensor 3 True\n"), run.stderr)


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


class Scripts(Case):
    def script(self, rng, table, compiler, steps):
        own = []
        for step in range(steps):
            if len(own) < 20:
                own.append(rng.choice([Tensor, Parameter])(step))
            at = rng.randrange(len(own))
            one, other = own[at], rng.choice(own)
            if isinstance(one, Parameter):
                one.state = Value(one if rng.random() < 0.5 else other)
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
            elif kind < 0.8:
                del own[at]

    def test_four_threads(self):
        self.addCleanup(sys.setswitchinterval, sys.getswitchinterval())
        sys.setswitchinterval(1e-5)
        table, compiler, failures = WeakDictionary(), Compiler(), []
        threading.excepthook = failures.append
        run = lambda seed: self.script(random.Random(seed), table, compiler, 2000)
        threads = [threading.Thread(target=run, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_memory_is_flat(self):
        pages = lambda: int(pathlib.Path("/proc/self/statm").read_text().split()[1])
        table, compiler, function = WeakDictionary(), Compiler(), Function(Token())
        for call in range(110_000):
            tensor = Tensor(call)
            tensor.value = table[tensor] = call
            function.parameter = tensor
            compiler.get(function.token, "float", function.compile)
            if call == 10_000:
                before = pages()
        self.assertLess(pages() - before, 200)
