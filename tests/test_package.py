"""The package as a whole: its table, its imports, its docstrings, and how it prints numbers."""

import doctest
import importlib
import inspect
import pkgutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import torch

import lessons_pkg
import lessons_pkg.attention
from lessons_pkg.figures import notebook, numbers
from lessons_pkg.figures.numbers import RoundingTie, fixed, rounded, rounded_all

sys.path.insert(0, str(Path(__file__).parent / "gates"))
from devices import package_table, public_functions, public_names

TABLE = package_table()
FUNCTIONS = public_functions()
CLASSES = {name: thing for name, thing in public_names().items() if inspect.isclass(thing)}


def run(code):
    """Run code in a Python of its own."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=120
    )


# --- the table --------------------------------------------------


def test_the_table_names_the_first_chapter():
    assert TABLE["attention.dot_product"] == ["scores", "softmax", "weighted_sum", "attend"]


@pytest.mark.parametrize("module", TABLE)
def test_each_module_has_just_the_public_names_of_the_table(module):
    exported = importlib.import_module(f"lessons_pkg.{module}").__all__
    assert sorted(exported) == sorted(TABLE[module])


def test_every_module_of_attention_stands_in_the_table():
    found = {
        name.removeprefix("lessons_pkg.")
        for _, name, _ in pkgutil.walk_packages(
            lessons_pkg.attention.__path__, "lessons_pkg.attention."
        )
    }
    assert found == {name for name in TABLE if name.startswith("attention.")}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_public_docstring_says_what_goes_in_what_comes_out_and_where_it_is_from(name):
    text = inspect.getdoc(FUNCTIONS[name]) or ""
    signature = inspect.signature(FUNCTIONS[name])
    parameters = [parameter for parameter in signature.parameters if parameter != "self"]
    titles = ["Args"] * bool(parameters)
    titles += ["Returns"] * (signature.return_annotation not in (None, "None"))
    titles += ["Raises"] * bool(parameters)
    check_sections(text, [*titles, "Source"], parameters)


@pytest.mark.parametrize("name", CLASSES)
def test_each_public_class_says_what_makes_it_and_where_it_is_from(name):
    parameters = list(inspect.signature(CLASSES[name]).parameters)
    check_sections(inspect.getdoc(CLASSES[name]) or "", ["Args", "Raises", "Source"], parameters)


def check_sections(text, titles, parameters):
    places = [text.find(f"\n{title}:\n") for title in titles]
    assert -1 not in places and places == sorted(places), text
    for parameter in parameters:
        assert f"    {parameter}: " in text, f"{parameter} is not explained"


# --- what an import costs ---------------------------------------


@pytest.mark.parametrize("module", ["attention.dot_product", "lectures"])
def test_importing_the_core_imports_no_drawing_library(module):
    heavy = ("matplotlib", "ipywidgets", "IPython")
    result = run(f"""
        import sys, lessons_pkg.{module}
        print([name for name in {heavy!r} if name in sys.modules])
    """)
    assert (result.returncode, result.stdout.strip()) == (0, "[]"), result.stderr


def test_importing_the_lectures_needs_no_torch():
    result = run("import sys, lessons_pkg.lectures; print('torch' in sys.modules)")
    assert result.stdout.strip() == "False", result.stderr


# --- the shape hook ---------------------------------------------

HOOK = """
    import jaxtyping, torch
    {hook}
    import lessons_pkg.attention.dot_product as module
    try:
        module.softmax({argument})
        print("no error")
    except Exception as error:
        print(type(error).__name__)
"""


def test_the_shape_hook_refuses_a_tensor_of_integers_before_our_guard():
    hook = "jaxtyping.install_import_hook(['lessons_pkg.attention'], 'beartype.beartype')"
    argument = "torch.ones(2, 3, dtype=torch.int64)"
    with_hook = run(HOOK.format(hook=hook, argument=argument))
    without = run(HOOK.format(hook="", argument=argument))
    assert with_hook.stdout.strip() == "TypeCheckError", with_hook.stderr
    assert without.stdout.strip() == "TypeError", without.stderr


def test_the_shape_hook_refuses_a_function_that_returns_a_wrong_shape(tmp_path):
    (tmp_path / "wrong_shape.py").write_text(
        textwrap.dedent("""
            import torch
            from jaxtyping import Float
            from torch import Tensor

            def scores(
                query: Float[Tensor, "query d_k"], key: Float[Tensor, "key d_k"]
            ) -> Float[Tensor, "query key"]:
                return key @ query.T
        """)
    )
    call = f"""
        import sys
        sys.path.insert(0, {str(tmp_path)!r})
        import jaxtyping, torch
        {{hook}}
        import wrong_shape
        print(tuple(wrong_shape.scores(torch.ones(3, 7), torch.ones(5, 7)).shape))
    """
    hook = "jaxtyping.install_import_hook(['wrong_shape'], 'beartype.beartype')"
    result = run(call.format(hook=hook))
    assert result.returncode != 0 and "TypeCheckError" in result.stderr
    assert run(call.format(hook="")).stdout.strip() == "(5, 3)"


def test_the_shape_hook_is_active_when_it_was_asked_for(request):
    asked = request.config.getoption("--jaxtyping-packages", default=None)
    if not asked or "lessons_pkg.attention" not in asked:
        pytest.skip("this pass runs without the shape hook")
    with pytest.raises(Exception) as caught:
        FUNCTIONS["attention.dot_product.softmax"](torch.ones(2, 3, dtype=torch.int64))
    assert type(caught.value).__name__ == "TypeCheckError"


# --- how numbers are printed ------------------------------------


def test_the_examples_in_the_docstrings_are_true():
    result = doctest.testmod(numbers)
    assert result.attempted > 0 and result.failed == 0


@pytest.mark.parametrize(
    "x, decimals, text",
    [
        (0.50625, 2, "0.51"),
        (1 / 3, 4, "0.3333"),
        (-1.2344, 3, "-1.234"),
        (7.0, 0, "7"),
        (2.0, 4, "2.0000"),
        (123.4567, 1, "123.5"),
        (torch.tensor(0.51), 2, "0.51"),
    ],
)
def test_a_number_is_printed_with_just_the_decimals_asked_for(x, decimals, text):
    assert fixed(x, decimals) == text
    assert rounded(x, decimals) == float(text)


def test_four_decimals_are_printed_unless_said():
    assert fixed(2 / 3) == "0.6667"


@pytest.mark.parametrize(
    "x, decimals",
    [
        (0.5, 0),
        (0.125, 2),
        (-0.125, 2),
        (0.125 + 9e-6, 2),
        (0.125 - 9e-6, 2),
        (1000.05 + 9e-4, 1),
        (0.00005, 4),
    ],
)
def test_a_number_near_a_rounding_tie_is_refused(x, decimals):
    for function in (fixed, rounded):
        with pytest.raises(RoundingTie, match="tie"):
            function(x, decimals)


@pytest.mark.parametrize("x", [0.125 + 2e-5, 0.125 - 2e-5])
def test_a_number_a_little_off_a_rounding_tie_is_printed(x):
    assert fixed(x, 2) == ("0.13" if x > 0.125 else "0.12")


@pytest.mark.parametrize("x", [-0.0, 0.0, -0.001, -1e-9])
def test_zero_never_has_a_minus_sign(x):
    assert fixed(x, 2) == "0.00"
    assert str(rounded(x, 2)) == "0.0"


@pytest.mark.parametrize("x", [float("nan"), float("inf"), float("-inf")])
def test_what_has_no_digits_is_refused(x):
    with pytest.raises(RoundingTie, match="no digits"):
        fixed(x, 2)


@pytest.mark.parametrize("decimals", [-1, 5, 17])
def test_more_than_four_decimals_are_refused(decimals):
    with pytest.raises(ValueError, match=f"0 to 4; got {decimals}"):
        fixed(1.0, decimals)


def test_a_rounding_tie_is_a_value_error():
    assert issubclass(RoundingTie, ValueError)


def test_nested_numbers_are_rounded_in_their_places():
    tensor = torch.tensor([[1 / 3, 2 / 3], [1.0, -0.00001]], dtype=torch.float64)
    expected = [[0.33, 0.67], [1.0, 0.0]]
    assert rounded_all(tensor, 2) == expected
    assert rounded_all(tensor.tolist(), 2) == expected
    assert rounded_all(tuple(map(tuple, tensor.tolist())), 2) == expected


def test_one_tie_among_nested_numbers_is_enough_to_refuse_them():
    with pytest.raises(RoundingTie):
        rounded_all([[0.1, 0.2], [0.3, 0.125]], 2)


# --- show and show_source ---------------------------------------


def test_show_prints_a_number_a_row_and_a_matrix(capsys):
    notebook.show("a", 1 / 3)
    notebook.show("b", torch.tensor([0.5, -0.25]), 2)
    notebook.show("c", [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], 1)
    assert capsys.readouterr().out.splitlines() == [
        "a = 0.3333",
        "b = [0.50, -0.25]",
        "c  (2 × 3)",
        "    [1.0, 2.0, 3.0]",
        "    [4.0, 5.0, 6.0]",
    ]


def test_show_writes_the_names_of_rows_one_below_the_other(capsys):
    notebook.show("x", [[1.0], [2.0]], 0, rows=("it", "ball"))
    assert capsys.readouterr().out.splitlines()[1:] == ["    it  [1]", "  ball  [2]"]


def test_show_takes_a_tensor_that_needs_a_gradient(capsys):
    notebook.show("g", torch.tensor([2.0], requires_grad=True), 1)
    assert capsys.readouterr().out == "g = [2.0]\n"


@pytest.mark.parametrize("value", [float("nan"), [0.1, 0.00005], torch.tensor([[0.00005]])])
def test_show_refuses_what_cannot_be_printed_safely(value):
    with pytest.raises(RoundingTie):
        notebook.show("x", value)


def test_show_refuses_a_third_axis_and_a_row_without_a_name():
    with pytest.raises(ValueError, match=r"\(2, 3, 5\)"):
        notebook.show("x", torch.zeros(2, 3, 5))
    with pytest.raises(ValueError, match="2 rows need 2 names; got 1"):
        notebook.show("x", torch.zeros(2, 3), rows=("one",))


def test_show_source_prints_the_code_without_the_docstring(capsys):
    notebook.show_source(fixed)
    printed = capsys.readouterr().out
    assert printed.startswith("def fixed(x: float, decimals: int = 4) -> str:\n")
    assert fixed.__doc__ not in printed and '"""' not in printed
    assert 'return text.removeprefix("-")' in printed
    compile(printed, "shown", "exec")


def test_show_source_prints_a_function_without_a_docstring_as_it_is(capsys):
    notebook.show_source(_bare)
    assert capsys.readouterr().out == "def _bare(x):\n    return x + 1\n"


def _bare(x):
    return x + 1


def test_a_reproducible_start_repeats_the_random_numbers():
    threads, strict = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    try:
        notebook.reproducible(3)
        one = torch.rand(5)
        notebook.reproducible(3)
        assert torch.equal(one, torch.rand(5))
        assert torch.get_num_threads() == 1
        notebook.reproducible(4)
        assert not torch.equal(one, torch.rand(5))
    finally:
        torch.set_num_threads(threads)
        torch.use_deterministic_algorithms(strict)
        torch.set_default_device(None)


@pytest.mark.parametrize("values", ["0.3", b"ab", {"a": 0.3}, [["0.3"]]])
def test_what_is_no_number_is_named_instead_of_rounded(values):
    with pytest.raises(TypeError, match=r"expected numbers .* got (str|bytes|dict)"):
        rounded_all(values)


@pytest.mark.parametrize(
    "x, decimals, text",
    [(99999, 4, "99999.0000"), (16777217, 0, "16777217"), (-0.0, 2, "0.00"), (-3, 1, "-3.0")],
)
def test_a_whole_number_of_any_size_is_printed(x, decimals, text):
    assert fixed(x, decimals) == text


def test_show_keeps_the_digits_of_a_python_float(capsys):
    notebook.show("n", 1 / 3)
    notebook.show("big", 16777217, 0)
    assert capsys.readouterr().out == "n = 0.3333\nbig = 16777217\n"
