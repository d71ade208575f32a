"""Every control of the key figure is moved in a browser; torch says what must be seen."""

import math

import pytest
import torch
from live_page import computed, faults_of_axe, harness, near, settle, spilled

from lessons_pkg.attention.dot_product import attend
from lessons_pkg.attention.projections import Projections
from lessons_pkg.figures.live import KeyExplorer
from lessons_pkg.lectures import STRETCH

pytestmark = pytest.mark.browser

TAG = "at-key-explorer"
IDENTITY = torch.eye(3, dtype=torch.float64)
STRETCHED = torch.tensor(STRETCH, dtype=torch.float64)
SHIFT = IDENTITY.roll(1, 1)
WORST = '#fig-key-explorer?w=[[-1,2.5,0],[0,-2,1],[3,0,-3]]&keys="all"&scaled=true'
OWN = {"<pad>": (0.2, 1.1, -0.7), "a": (-2.0, 0.4, 0.3), "b": (0.6, -0.9, 2.0)}


@pytest.fixture
def show(page, tmp_path):
    def opened(figure=None, hash="", width=1280, **more):
        made = page(width=width, **more)
        made.goto(harness(tmp_path, figure or KeyExplorer()) + hash)
        made.wait_for_selector(f"{TAG}[data-ready]")
        return made

    return opened


def digits(values, decimals=2) -> list[str]:
    """Python's digits; a value on a tie, where browsers may differ, is no use to a test."""
    numbers = (values + 0.0).flatten().tolist()
    assert all(abs(abs(x) * 10**decimals % 1 - 0.5) > 1e-6 for x in numbers), numbers
    texts = [f"{round(x, 9) + 0.0:.{decimals}f}" for x in numbers]
    zero = f"{0:.{decimals}f}"
    return [zero if text == f"-{zero}" else text.replace("-", "−") for text in texts]


def check(page, w_k=STRETCHED, everyone=False, scaled=False, figure=None) -> None:
    """The numbers at full precision, and the digits on the page, are torch's."""
    figure = figure or KeyExplorer()
    w_k = torch.as_tensor(w_k, dtype=torch.float64)
    got = computed(page, TAG)
    scale = 1 / math.sqrt(3) if scaled else 1.0
    first = 0 if everyone else 1
    query, key, value = Projections.from_matrices(IDENTITY, w_k, IDENTITY)(figure.x)
    table = query @ key.T * scale
    now = attend(query[:1], key[first:], value[first:], scale=scale).weights[0]
    before = attend(query[:1], value[first:], value[first:], scale=scale).weights[0]
    row = (query[:1] @ value.T * scale)[0]
    near(got["keys"], key.detach())
    near(got["scores"], table.detach())
    near(got["scoresBefore"], row.detach())
    near(got["weights"], now.detach())
    near(got["weightsBefore"], before.detach())
    symmetric = torch.allclose(table, table.T, atol=1e-9, rtol=0)
    assert got["symmetric"] is symmetric

    box = page.locator(TAG)
    shown = box.locator(".at-ke-k td").all_inner_texts()
    assert [float(cell.replace("−", "-")) for cell in shown] == pytest.approx(
        key.flatten().tolist(), abs=1e-9
    )
    assert box.locator(".at-ke-square td").all_inner_texts() == digits(table)
    lines = box.locator(".at-ke-row tbody tr")
    for line, values in enumerate((row[first:], table[0, first:], before, now)):
        cells = lines.nth(line).locator("td:visible").locator(".at-ke-score, .at-pill")
        assert cells.all_inner_texts() == digits(values)
    for line, moved in ((1, table[0] - row), (3, now - before)):
        marks = lines.nth(line).locator("td:visible .at-ke-mark").all_inner_texts()
        moved = moved[first:] if line == 1 else moved
        assert marks == ["=" if abs(d) < 1e-9 else "↑" if d > 0 else "↓" for d in moved.tolist()]
    heads = lines.locator("th").all_inner_texts()
    by = " ÷ √3" if scaled else ""
    assert heads == [f"score{by} before", f"score{by} now", "weight before", "weight now"]
    said = box.locator(".at-say").inner_text()
    words = figure.words[first:]
    for values in (now, before):
        pairs = zip(words, digits(values, 4), strict=True)
        assert ", ".join(f"{word} {text}" for word, text in pairs) in said
    gaps = [digits(each[1] - each[2])[0] for each in (row, table[0])]
    assert f"goes from {gaps[0]} to {gaps[1]}." in said
    line = box.locator(".at-ke-symmetry").inner_text()
    assert line.startswith("symmetric: yes" if symmetric else "symmetric: no")
    typed = box.locator("input[type=number]").evaluate_all("all => all.map((i) => Number(i.value))")
    assert typed == w_k.flatten().tolist()


def test_the_start_shows_that_the_score_rises_and_the_weight_falls(show):
    page = show()
    check(page)
    lines = page.locator(f"{TAG} .at-ke-row tbody tr").all()
    dog = [line.locator("td:visible").first for line in lines]
    numbers = [cell.locator("> :first-child").inner_text() for cell in dog]
    assert numbers == ["0.51", "0.56", "0.50", "0.40"]
    assert [dog[n].locator(".at-vh").text_content() for n in (1, 3)] == [" rises", " falls"]
    line = page.locator(f"{TAG} .at-ke-symmetry").inner_text()
    assert line == "symmetric: yes – it→ball = ball→it = 0.96"


@pytest.mark.parametrize(
    ("name", "matrix"),
    [("identity", IDENTITY), ("diag(1, 2, 1)", STRETCHED), ("cyclic shift", SHIFT)],
)
def test_a_mouse_chooses_each_preset(show, name, matrix):
    page = show(hash="#fig-key-explorer?w=[[1,1,1],[0,1,0],[0,0,1]]")
    assert page.locator(f"{TAG} input[name$=preset]:checked").count() == 0
    page.get_by_text(name, exact=True).click()
    check(page, matrix)
    assert page.get_by_role("radio", name=name).is_checked()


def test_arrow_keys_walk_through_the_presets(show):
    page = show()
    page.get_by_role("radio", name="diag(1, 2, 1)").focus()
    page.keyboard.press("ArrowRight")
    check(page, SHIFT)
    page.keyboard.press("ArrowRight")
    check(page, IDENTITY)


def test_the_shift_names_the_two_scores_that_differ_most(show):
    page = show()
    page.get_by_text("cyclic shift", exact=True).click()
    settle(page)
    line = page.locator(f"{TAG} .at-ke-symmetry").inner_text()
    assert line == "symmetric: no – dog→ball 0.19 ≠ ball→dog 0.83"


def test_scores_that_differ_behind_the_second_digit_are_written_longer(show):
    page = show(hash="#fig-key-explorer?w=[[1,0,0.01],[0,2,0],[0,0,1]]")
    settle(page)
    line = page.locator(f"{TAG} .at-ke-symmetry").inner_text()
    assert line == "symmetric: no – dog→ball 0.2801 ≠ ball→dog 0.2809"


@pytest.mark.parametrize("cell", range(9))
def test_each_number_of_the_key_matrix_can_be_typed(show, cell):
    page = show(hash="#fig-key-explorer?scaled=true")
    row, column = divmod(cell, 3)
    page.get_by_label(f"W K, row {row + 1}, column {column + 1}").fill("-1.3")
    matrix = STRETCHED.clone()
    matrix[row, column] = -1.3
    check(page, matrix, scaled=True)
    assert page.locator(f"{TAG} input[name$=preset]:checked").count() == 0


def test_keys_step_a_number_and_a_bad_one_is_refused(show):
    page = show(hash="#fig-key-explorer?scaled=true")
    field = page.get_by_label("W K, row 2, column 2")
    field.focus()
    page.keyboard.press("ArrowUp")
    matrix = STRETCHED.clone()
    matrix[1, 1] = 2.1
    check(page, matrix, scaled=True)
    field.fill("7")
    settle(page)
    assert field.get_attribute("aria-invalid") == "true"
    wrong = page.locator(f"{TAG} .at-wrong")
    assert wrong.inner_text() == "✗ W K, row 2, column 2: write a number from −3 to 3. 2.1 stays."
    near(computed(page, TAG)["keys"][2], [0.1, 0.9 * 2.1, 0.1])
    field.blur()
    check(page, matrix, scaled=True)
    assert wrong.inner_text() == ""


def test_all_three_words_can_be_keys_and_scores_be_divided(show):
    page = show()
    page.get_by_text("all three words", exact=True).click()
    check(page, everyone=True)
    page.get_by_label("divide by √3").check()
    check(page, everyone=True, scaled=True)
    page.get_by_role("radio", name="dog and ball").focus()
    page.keyboard.press("Space")
    check(page, scaled=True)
    assert "dog 0.4425, ball 0.5575" in page.locator(f"{TAG} .at-say").inner_text()


def test_the_ramp_has_written_limits_and_another_colour_below_zero(show):
    page = show()
    limits = page.locator(f"{TAG} .at-legend b")
    assert limits.all_inner_texts() == ["−2", "2", "0", "1"]
    cell = page.locator(f"{TAG} .at-ke-square td").last
    ink = "(e) => [e.style.getPropertyValue('--t'), e.classList.contains('at-ke-neg')]"
    assert cell.evaluate(ink) == ["0.820", False]
    colour = "(e) => getComputedStyle(e).backgroundColor"
    blue = cell.evaluate(colour)
    page.get_by_label("W K, row 2, column 2").fill("-2")
    settle(page)
    assert cell.evaluate(ink) == ["0.800", True]
    assert cell.evaluate(colour) != blue
    page.get_by_text("identity", exact=True).click()
    settle(page)
    assert limits.all_inner_texts()[:2] == ["−1", "1"]
    page.locator(f"{TAG} input[type=number]").evaluate_all(
        "all => all.forEach((i) => { i.value = 0; i.dispatchEvent(new Event('input')); })"
    )
    check(page, 0 * IDENTITY)


@pytest.mark.parametrize("option", range(3))
def test_each_prediction_doubles_every_key(show, option):
    page = show(hash=WORST)
    page.locator(f"{TAG} .at-options button").nth(option).click()
    check(page, 2 * IDENTITY)
    verdict = page.locator(f"{TAG} .at-predict p").inner_text()
    assert verdict.startswith("✓ Yes." if option == 2 else "✗ Not quite.")
    marks = page.locator(f"{TAG} .at-ke-row td:visible .at-ke-mark").all_inner_texts()
    assert marks == ["↑", "↑", "=", "="]


def test_reset_gives_the_first_numbers_back(show):
    page = show()
    page.get_by_text("cyclic shift", exact=True).click()
    page.get_by_text("all three words", exact=True).click()
    page.get_by_label("divide by √3").check()
    check(page, SHIFT, everyone=True, scaled=True)
    page.get_by_role("button", name="Reset").click()
    check(page)
    assert page.get_by_role("radio", name="diag(1, 2, 1)").is_checked()


def test_a_copied_link_restores_the_state(show):
    page = show()
    page.get_by_text("cyclic shift", exact=True).click()
    page.get_by_label("W K, row 3, column 1").fill("-0.5")
    page.get_by_text("all three words", exact=True).click()
    page.get_by_label("divide by √3").check()
    page.get_by_role("button", name="Copy link").click()
    page.reload()
    page.wait_for_selector(f"{TAG}[data-ready]")
    matrix = SHIFT.clone()
    matrix[2, 0] = -0.5
    check(page, matrix, everyone=True, scaled=True)


@pytest.mark.parametrize(
    "query",
    [
        "w=[[1,0,0],[0,4,0],[0,0,1]]",
        "w=[[1,0,0],[0,1,0]]",
        'w=[[1,0,0],[0,"1",0],[0,0,1]]',
        'keys="none"',
        "scaled=1",
        'preset="identity"',
        "w=[",
    ],
)
def test_a_broken_link_starts_at_the_first_numbers(show, query):
    check(show(hash=f"#fig-key-explorer?{query}"))


def test_a_change_is_announced_in_one_sentence(show):
    page = show()
    page.get_by_text("cyclic shift", exact=True).click()
    page.wait_for_function(
        f"document.querySelector('{TAG} > [role=status]').textContent === "
        "'“it” gives dog 0.5793 and ball 0.4207. The score table is not symmetric.'",
        timeout=3000,
    )


def test_words_of_ones_own_are_shown_as_they_are(show):
    figure = KeyExplorer(OWN)
    page = show(figure)
    check(page, figure=figure)
    heads = page.locator(f"{TAG} .at-ke-square tbody th").all_inner_texts()
    assert heads == ["<pad>", "a", "b"]
    assert page.locator(f"{TAG} .at-predict").count() == 0
    assert "Both" not in page.locator(TAG).inner_text()


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_nothing_is_wider_than_the_window(show, width):
    page = show(width=width, hash=WORST)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert spilled(page, TAG) == []


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(show, theme, width):
    page = show(width=width, hash=WORST)
    page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
    settle(page)
    assert faults_of_axe(page) == []
    page.locator(f"{TAG} .at-options button").nth(1).click()
    page.get_by_label("W K, row 1, column 1").fill("9")
    settle(page)
    assert faults_of_axe(page) == []


def test_without_javascript_the_tables_are_there(page, tmp_path):
    made = page(java_script_enabled=False)
    made.goto(harness(tmp_path, KeyExplorer()))
    text = made.locator(TAG).inner_text()
    for digits_ in ("1.8", "0.56", "0.40", "1.64"):
        assert digits_ in text
