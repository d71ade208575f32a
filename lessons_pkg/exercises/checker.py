"""Try a reader's function on several inputs, and name the likely mistake.

An exercise holds a right solution and several wrong ones, each with a sentence. When the
reader's function differs from the right one, it is compared with the wrong ones: if it does the
same as one of them on every input, that sentence is the answer. Otherwise the checker says where
shape, dtype or value first differ.

The checker refuses a wrong solution with a sentence, stops Python code that does not return (one
long call into compiled code ends when it ends), leaves the random state alone and prints the same
text every time. It counts the processor time of the reader's function, so that a slow loop does
not fail because the machine has other work; a function that waits is stopped by the clock.
"""

import contextlib
import ctypes
import dis
import inspect
import io
import random
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any

import torch
from torch import Tensor

from lessons_pkg.attention.dot_product import Attention

__all__ = ["NOT_SOLVED", "Case", "Diagnosis", "Exercise", "Property", "Verdict"]

NOT_SOLVED = "Not solved yet: write the body, then run this cell again."

_SHOWN_CHARACTERS = 2000
_ALARM_EVERY = 0.05
_PATIENCE = 4  # seconds that may pass on the clock for each second of computing


@dataclass(frozen=True)
class Case:
    """One input: what is special about it, and a function that makes it afresh."""

    kind: str
    make: Callable[[], tuple[Any, ...]]


@dataclass(frozen=True)
class Diagnosis:
    """A wrong solution, and the sentence for a reader whose function does the same."""

    wrong: Callable[..., Any]
    sentence: str


@dataclass(frozen=True)
class Property:
    """A law of the result. ``broken`` gets the result and says what is wrong, or None."""

    broken: Callable[[Tensor], str | None]


@dataclass(frozen=True)
class Verdict:
    """Whether the solution passed, and the text that the reader sees."""

    passed: bool
    message: str


@dataclass(frozen=True)
class _Outcome:
    """What one call did: it returned, it raised, or it never came back."""

    args: tuple[Any, ...] = ()
    result: Any = None
    error: BaseException | None = None
    timed_out: bool = False
    changed: str | None = None
    printed: str = ""
    unreadable: str | None = None


@dataclass(frozen=True)
class Exercise:
    """A task that checks itself.

    Attributes:
        name: What the function is called in the text.
        parameters: The names of its arguments, in order.
        cases: The inputs it is tried on.
        solved: The line for a right solution.
        reference: A right solution. None where many answers are right: then properties decide.
        diagnoses: Wrong solutions with their sentences. The first that fits is told.
        properties: Laws of the result, told in order when no diagnosis fits.
        difficulty: 1 (a line) to 5.
        importance: 1 (a side path) to 5 (the rest builds on it).
        minutes: How long it may take.
        trains: Whether the gradient must flow through, as in the reference.
        shares: Whether what trains are rows that sum to 1. Then a gradient counts up to a constant
            a row, which the softmax behind them takes out again.
    """

    name: str
    parameters: tuple[str, ...]
    cases: tuple[Case, ...]
    solved: str
    reference: Callable[..., Tensor] | None = None
    diagnoses: tuple[Diagnosis, ...] = ()
    properties: tuple[Property, ...] = ()
    difficulty: int = 1
    importance: int = 1
    minutes: int = 5
    trains: bool = False
    shares: bool = False

    def check(self, candidate: Any, *, timeout: float = 5.0) -> None:
        """Try the reader's function and print what came out.

        Args:
            candidate: The function itself, not its result.
            timeout: Seconds of processor time that one call may take. Four times as many may
                pass on the clock.
        """
        _say(self.run(candidate, timeout=timeout).message)

    def run(self, candidate: Any, *, timeout: float = 5.0) -> Verdict:
        """Try the function and return the verdict instead of printing it.

        Args:
            candidate: The function itself, not its result.
            timeout: Seconds of processor time that one call may take. Four times as many may
                pass on the clock.

        Returns:
            Whether it passed, and the message that ``check`` prints.
        """
        try:
            return self._judged(candidate, timeout)
        except Exception as raised:  # whatever was handed in, the reader gets a sentence
            return Verdict(
                False,
                f"Not yet: the checker could not read what your function returned "
                f"({type(raised).__name__}). Return a plain torch tensor.",
            )

    def _judged(self, candidate: Any, timeout: float) -> Verdict:
        unfit = self._unfit(candidate)
        if unfit is not None:
            return Verdict(False, unfit)

        outcomes: list[_Outcome] = []
        with _global_state_kept():
            for case in self.cases:
                outcomes.append(_call(candidate, case, timeout))
                if outcomes[-1].timed_out:
                    break
            message = self._complaint(candidate, outcomes, timeout)
            if message is None and self.trains and self._gradient_is_lost(candidate, timeout):
                message = (
                    "Not yet: the numbers are right, but the gradient must flow through, because "
                    "later chapters train this. Leave out `.detach()`, `.item()`, `.numpy()`, "
                    "`torch.tensor(...)` and `no_grad`."
                )
        printed = outcomes[0].printed
        if printed and message != NOT_SOLVED:
            heading = "Your function printed, in its first call:\n"
            printed = heading + printed.rstrip("\n") + "\n"
        else:
            printed = ""
        if message is None:
            return Verdict(True, printed + self.solved)
        return Verdict(False, printed + message)

    def _unfit(self, candidate: Any) -> str | None:
        """Say why this cannot be called at all, or None."""
        call = f"{self.name}.check(my_function)"
        if not callable(candidate):
            return (
                f"Not yet: give the function itself, as in {call}, without calling it. "
                f"This is {_a(candidate)}."
            )
        try:
            signature = inspect.signature(candidate)
        except Exception:  # none to be had, or an attribute of it raises
            return None
        try:
            signature.bind(*self.parameters)
        except TypeError:
            wanted = ", ".join(self.parameters) if self.parameters else "none"
            return (
                f"Not yet: the function must take {_count(len(self.parameters), 'argument')} "
                f"({wanted}). Yours is written with {signature}."
            )
        return None

    def _complaint(self, candidate: Any, outcomes: list[_Outcome], timeout: float) -> str | None:
        """Give the message for a wrong solution, or None for a right one."""
        last = outcomes[-1]
        if last.timed_out:
            return (
                f"Not yet: your function had not returned after {timeout:g} seconds of computing, "
                f"or {_PATIENCE * timeout:g} seconds on the clock, so it was stopped. "
                "Is there a loop that never ends?" + _seen(self._case(outcomes), last)
            )
        if all(type(outcome.error) is NotImplementedError for outcome in outcomes):
            return NOT_SOLVED
        if all(o.error is o.result is o.unreadable is None for o in outcomes):
            if _is_stub(candidate):
                return NOT_SOLVED
            if outcomes[0].printed:
                return (
                    "Not yet: your function printed its answer and returned None. "
                    "Use `return` where `print` stands."
                )
            return "Not yet: your function returned None: is a `return` missing?"

        expected = [self._expected(case) for case in self.cases]
        first = 0
        while (complaint := self._differs(outcomes[first], expected[first])) is None:
            first += 1
            if first == len(outcomes):
                return None
        seen = _seen(self.cases[first], outcomes[first])
        changed = next((o.changed for o in outcomes if o.changed is not None), None)
        if changed is not None:
            return (
                f"Not yet: your function changes its input {changed} in place. "
                "Whoever called it still needs the old values: make a new tensor "
                "(`a * b`, not `a *= b` or a method that ends in `_`)." + seen
            )
        for diagnosis in self.diagnoses:
            if self._does_the_same(outcomes, diagnosis):
                return (
                    f"Not yet: {diagnosis.sentence}{seen}{_entry(outcomes[first], expected[first])}"
                )
        return f"Not yet: {complaint}{seen}"

    def _gradient_is_lost(self, candidate: Any, timeout: float) -> bool:
        """Compare the gradient at the first input with that of the reference."""
        first = self.cases[0]

        def tracked() -> tuple[Any, ...]:
            return tuple(
                a.requires_grad_() if isinstance(a, Tensor) and a.is_floating_point() else a
                for a in first.make()
            )

        def gradients(result: Tensor, args: tuple[Any, ...]) -> list[Tensor]:
            leaves = [a for a in args if isinstance(a, Tensor) and a.requires_grad]
            places = torch.arange(result.numel(), dtype=result.dtype).reshape(result.shape)
            found = list(torch.autograd.grad(result, leaves, grad_outputs=places.cos()))
            return [g - g.mean(-1, keepdim=True) for g in found] if self.shares else found

        with torch.enable_grad():
            outcome = _call(candidate, Case(first.kind, tracked), timeout)
            args = tracked()
            assert self.reference is not None
            wanted = gradients(self.reference(*args), args)
            if not isinstance(outcome.result, Tensor):
                return True
            try:
                got = gradients(outcome.result, outcome.args)
            except RuntimeError:  # the result, or one of the inputs, is cut off
                return True
        return not all(_nearly(a, b) for a, b in zip(got, wanted, strict=True))

    def _case(self, outcomes: list[_Outcome]) -> Case:
        return self.cases[len(outcomes) - 1]

    def _expected(self, case: Case) -> Tensor | None:
        return None if self.reference is None else self.reference(*case.make())

    def _differs(self, outcome: _Outcome, expected: Tensor | None) -> str | None:
        """Say how one outcome differs from what is expected, or None."""
        if outcome.error is not None:
            return f"your function raised {_error_text(outcome.error)}"
        if outcome.changed is not None:
            return "your function changes its input in place."
        if outcome.unreadable is not None:
            return outcome.unreadable
        result = outcome.result
        if not isinstance(result, Tensor):
            return _not_a_tensor(result)
        if expected is None:
            return self._broken(result)
        if result.shape != expected.shape:
            return f"the result has shape {_shape(result)}; expected {_shape(expected)}."
        if result.dtype != expected.dtype:
            return (
                f"the result has dtype {_dtype(result)}; expected {_dtype(expected)}, "
                "the dtype of the input."
            )
        if result.device != expected.device:
            return f"the result is on device {result.device}; expected {expected.device}."
        if _close(result, expected):
            return None
        broken = self._broken(result)
        if broken is None and _nearly(result, expected):
            broken = (
                "the values lose digits: was the computation done in a narrower dtype than the "
                "input's, or with a rounded constant?"
            )
        return (broken or "the values differ.") + _entry(outcome, expected)

    def _broken(self, result: Tensor) -> str | None:
        for law in self.properties:
            text = law.broken(result.detach())
            if text is not None:
                return text
        return None

    def _does_the_same(self, outcomes: list[_Outcome], diagnosis: Diagnosis) -> bool:
        for case, outcome in zip(self.cases, outcomes, strict=True):
            if outcome.unreadable is not None:
                return False
            wrong = _plain_call(diagnosis.wrong, case)
            if wrong.error is not None or outcome.error is not None:
                if type(wrong.error) is not type(outcome.error):
                    return False
            elif not _same(outcome.result, wrong.result):
                return False
        return True


# --- calling the reader's function -----------------------------------------------------------


class _TimesUp(BaseException):
    """Raised inside a function that does not return. ``except Exception`` lets it pass."""


class _Clipped(io.StringIO):
    """Keeps the beginning of what is printed, so that an endless printer fills no memory."""

    def write(self, text: str) -> int:
        room = _SHOWN_CHARACTERS - self.tell()
        if room > 0:
            super().write(text[:room])
        return len(text)

    def close(self) -> None:
        """Stay open: a function that closes what it prints to is still read."""


def _invoke(candidate: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Call it. The alarm looks for this frame: outside it, nothing is interrupted."""
    return candidate(*args)


def _call(candidate: Callable[..., Any], case: Case, timeout: float) -> _Outcome:
    args = case.make()
    printed = _Clipped()
    result: Any = None
    error: BaseException | None = None
    timed_out = False
    with (
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
        warnings.catch_warnings(),
        _global_state_kept(),
    ):
        warnings.simplefilter("ignore")
        try:
            result = _within(timeout, candidate, args)
        except _TimesUp:
            timed_out = True
        except KeyboardInterrupt:  # the reader pressed stop
            raise
        except BaseException as raised:
            error = raised.with_traceback(None)
    if inspect.iscoroutine(result):
        result.close()
    names = _names(candidate, len(args))
    changed = None
    for name, given, fresh in zip(names, args, case.make(), strict=True):
        if isinstance(given, Tensor) and not _untouched(given, fresh):
            changed = name
            break
    unreadable = _unreadable(result)
    if unreadable is not None:
        result = None
    return _Outcome(args, result, error, timed_out, changed, printed.getvalue(), unreadable)


def _plain_call(function: Callable[..., Any], case: Case) -> _Outcome:
    """Call one of our own wrong solutions: they end, so no alarm is needed."""
    args = case.make()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return _Outcome(args, function(*args))
        except Exception as raised:
            return _Outcome(args, error=raised)


@dataclass(frozen=True)
class _Allowance:
    """How long a call may still go on: by its own processor time, and by the clock."""

    timeout: float
    clock: float
    computed: Callable[[], float]

    def left(self) -> float:
        """Give the seconds that surely remain; a thread cannot compute faster than the clock."""
        on_clock = _PATIENCE * self.timeout - (time.monotonic() - self.clock)
        return min(self.timeout - self.computed(), on_clock)


def _within(timeout: float, candidate: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    main = threading.current_thread() is threading.main_thread()
    if main and hasattr(signal, "setitimer"):
        return _within_alarm(timeout, candidate, args)
    return _within_thread(timeout, candidate, args)


def _within_alarm(timeout: float, candidate: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Call under an alarm that rings again and again until the function gives way."""
    rings = 0

    def stop_at_line(frame: FrameType, event: str, arg: Any) -> Any:
        if event == "line":
            raise _TimesUp
        return stop_at_line

    def ring(number: int, frame: FrameType | None) -> None:
        nonlocal rings
        inside: list[FrameType] = []
        while frame is not None and frame.f_code is not _invoke.__code__:
            inside.append(frame)
            frame = frame.f_back
        if frame is None or not inside:
            return
        left = allowed.left()
        if left > 0:  # others had the processor, or the function waits: ring again later
            signal.setitimer(signal.ITIMER_REAL, max(left, _ALARM_EVERY), _ALARM_EVERY)
            return
        rings += 1
        if rings > 1:
            # A loop around `except:` swallowed the first ring. Stop it at its next line too,
            # which is the handler's own and outside its `try`.
            for each in inside:
                each.f_trace = stop_at_line
            sys.settrace(stop_at_line)
        raise _TimesUp

    old_trace = sys.gettrace()
    started, computed = time.monotonic(), time.thread_time()
    allowed = _Allowance(timeout, started, lambda: time.thread_time() - computed)
    old_handler = signal.signal(signal.SIGALRM, ring)
    old_delay, old_interval = signal.setitimer(signal.ITIMER_REAL, timeout, _ALARM_EVERY)
    try:
        return _invoke(candidate, args)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        if rings:
            sys.settrace(old_trace)
        signal.signal(signal.SIGALRM, signal.SIG_DFL if old_handler is None else old_handler)
        if old_delay:
            left = max(old_delay - (time.monotonic() - started), 0.001)
            signal.setitimer(signal.ITIMER_REAL, left, old_interval)


def _within_thread(timeout: float, candidate: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Call in a daemon thread: where there is no alarm, or not in the main thread."""
    results: list[Any] = []
    errors: list[BaseException] = []
    clocks: list[Callable[[], float]] = []

    def work() -> None:
        clocks.append(_own_clock())
        try:
            results.append(_invoke(candidate, args))
        except BaseException as raised:
            errors.append(raised)

    thread = threading.Thread(target=work, daemon=True)
    allowed = _Allowance(timeout, time.monotonic(), lambda: clocks[0]() if clocks else 0.0)
    thread.start()
    thread.join(timeout)
    while thread.is_alive() and (left := allowed.left()) > 0:
        thread.join(max(left, _ALARM_EVERY))
    if thread.is_alive():
        for _ in range(5):  # ask it to end, so that it does not go on taking the processor
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(thread.ident or 0), ctypes.py_object(_TimesUp)
            )
            thread.join(_ALARM_EVERY)
            if not thread.is_alive():
                break
        raise _TimesUp
    if errors:
        raise errors[0]
    return results[0]


def _own_clock() -> Callable[[], float]:
    """Give a function, for other threads to call, that reads how long this thread has computed.

    Where no thread's time can be read from outside (macOS, Windows), it reads the whole process's:
    that is never less.
    """
    clock_of = getattr(time, "pthread_getcpuclockid", None)
    if clock_of is None:
        before = time.process_time()
        return lambda: time.process_time() - before
    clock = clock_of(threading.get_ident())

    def computed() -> float:
        try:
            return time.clock_gettime(clock)
        except OSError:  # the thread has ended
            return 0.0

    return computed


@contextlib.contextmanager
def _global_state_kept() -> Iterator[None]:
    """Put back random states, default dtype and device, and the modes of torch and Python."""
    numpy = sys.modules.get("numpy")
    torch_state = torch.random.get_rng_state()
    python_state = random.getstate()
    numpy_state = None if numpy is None else numpy.random.get_state()
    dtype = torch.get_default_dtype()
    device = torch.get_default_device()
    grad = torch.is_grad_enabled()
    threads = torch.get_num_threads()
    deterministic = torch.are_deterministic_algorithms_enabled()
    warn_only = torch.is_deterministic_algorithms_warn_only_enabled()
    recursion = sys.getrecursionlimit()
    try:
        yield
    finally:
        if torch.get_default_device() != device:
            torch.set_default_device(None)
            if torch.get_default_device() != device:
                torch.set_default_device(device)
        if torch.get_num_threads() != threads:
            torch.set_num_threads(threads)
        torch.use_deterministic_algorithms(deterministic, warn_only=warn_only)
        sys.setrecursionlimit(recursion)
        torch.random.set_rng_state(torch_state)
        random.setstate(python_state)
        if numpy is not None:
            numpy.random.set_state(numpy_state)
        torch.set_default_dtype(dtype)
        torch.set_grad_enabled(grad)


# --- comparing -------------------------------------------------------------------------------


def _tolerance(like: Tensor) -> tuple[float, float]:
    """Give rtol and atol: wide enough for any order of summing, too narrow for a lost dtype."""
    return (1e-9, 1e-11) if like.dtype == torch.float64 else (1e-3, 1e-5)


def _close(a: Tensor, b: Tensor) -> bool:
    rtol, atol = _tolerance(b)
    return torch.allclose(a.detach(), b.detach(), rtol=rtol, atol=atol, equal_nan=True)


def _nearly(a: Tensor, b: Tensor) -> bool:
    return torch.allclose(a.detach(), b.detach(), rtol=1e-2, atol=1e-3)


def _same(a: Any, b: Any) -> bool:
    if not (isinstance(a, Tensor) and isinstance(b, Tensor)):
        return type(a) is type(b)
    if a.device != b.device:
        return False
    return a.shape == b.shape and a.dtype == b.dtype and _close(a, b)


def _untouched(given: Tensor, fresh: Tensor) -> bool:
    if _unreadable(given) is not None:
        return False
    return (
        given.shape == fresh.shape
        and given.dtype == fresh.dtype
        and torch.equal(given.detach(), fresh)
    )


def _is_stub(candidate: Any) -> bool:
    """Whether the body is only ``...``, ``pass``, a docstring or ``return None``."""
    code = getattr(candidate, "__code__", None)
    if code is None:
        return False
    empty = {"RESUME", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST", "NOP", "CACHE"}
    return {step.opname for step in dis.get_instructions(code)} <= empty


# --- words -----------------------------------------------------------------------------------


def _names(candidate: Any, count: int) -> list[str]:
    try:
        names = [f"`{name}`" for name in inspect.signature(candidate).parameters]
    except Exception:
        names = []
    return (names + [f"number {i + 1}" for i in range(len(names), count)])[:count]


def _shape(tensor: Tensor) -> str:
    return str(tuple(tensor.shape))


def _dtype(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _a(thing: Any) -> str:
    name = type(thing).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def _error_text(error: BaseException) -> str:
    try:
        text = str(error).strip()
    except Exception:
        text = ""
    name = type(error).__name__
    line = text.splitlines()[0] if text else ""
    return f"{name}: {line}" if line else f"{name}."


def _say(text: str) -> None:
    """Print, where there is something to print to: a closed output must not raise."""
    try:
        print(text)
    except UnicodeEncodeError:
        print(text.encode("ascii", "replace").decode("ascii"))
    except (AttributeError, OSError, ValueError):
        pass


def _unreadable(result: Any) -> str | None:
    """Say why the numbers of a tensor cannot be compared, or None."""
    kind = type(result)
    if not issubclass(kind, Tensor):
        return None
    if kind not in (Tensor, torch.nn.Parameter):
        return f"your function returned {_a(result)}, a subclass of Tensor; return a plain tensor."
    if result.is_nested:
        return "your function returned a nested tensor; return a plain one."
    if result.is_quantized:
        return "your function returned a quantized tensor; return a plain one."
    if result.layout != torch.strided:
        return "your function returned a sparse tensor; return a dense one (`.to_dense()`)."
    if result.is_meta:
        return "your function returned a tensor on the meta device, which holds no numbers."
    if result.dtype.is_floating_point and result.dtype.itemsize < 2:
        return f"the result has dtype {_dtype(result)}, too narrow to compare; keep the input's."
    return None


def _not_a_tensor(result: Any) -> str:
    if result is None:
        return "your function returned None: is a `return` missing?"
    hint = ""
    if isinstance(result, bool | int | float):
        hint = " `.item()` and `float()` leave torch: return the tensor itself."
    elif isinstance(result, Attention):
        hint = " `attend` gives several tensors: return one, as in `attend(...).context`."
    elif isinstance(result, list | tuple):
        hint = " `torch.stack` joins a list of tensors into one."
    elif type(result).__module__.partition(".")[0] == "numpy":
        hint = " Stay in torch: no `.numpy()`."
    elif inspect.isgenerator(result):
        hint = " Use `return`, not `yield`."
    return f"your function returned {_a(result)}; a torch tensor is expected.{hint}"


def _seen(case: Case, outcome: _Outcome) -> str:
    if not outcome.args:
        return ""
    parts = [
        f"{_shape(arg)} {_dtype(arg)}" if isinstance(arg, Tensor) else f"{arg:.4g}"
        for arg in outcome.args
    ]
    return f"\nSeen with {case.kind}: {', '.join(parts)}."


def _entry(outcome: _Outcome, expected: Tensor | None) -> str:
    """Show the first entry that differs, where there is one to show."""
    result = outcome.result
    if not isinstance(result, Tensor) or expected is None:
        return ""
    if result.shape != expected.shape:
        return f"\nExpected shape {_shape(expected)}, got {_shape(result)}."
    if result.dtype != expected.dtype:
        return f"\nExpected dtype {_dtype(expected)}, got {_dtype(result)}."
    if result.device != expected.device:
        return ""
    got = result.detach().flatten()
    want = expected.detach().flatten()
    rtol, atol = _tolerance(want)
    apart = (~torch.isclose(got, want, rtol=rtol, atol=atol, equal_nan=True)).nonzero()
    if not apart.numel():
        return ""
    place = apart[0, 0]
    index = [int(i) for i in torch.unravel_index(place, expected.shape)]
    where = f" at {index}" if index else ""
    a, b = _number(want[place]), _number(got[place])
    if a == b:
        a, b = f"{float(want[place]):.12g}", f"{float(got[place]):.12g}"
    return f"\nExpected{where} {a}, got {b}."


def _number(value: Tensor) -> str:
    return f"{float(value):.4g}"
