"""Every control of the recurrence figure is moved in a browser; torch says what must be seen."""

import pytest
from live_page import faults_of_axe, harness, near, settle, spilled

from lessons_pkg.figures.live.recurrence import RecurrenceVersusAttention, _power
from lessons_pkg.figures.numbers import fixed

pytestmark = pytest.mark.browser

TAG = "at-recurrence"


@pytest.fixture
def show(page, tmp_path):
    def opened(figure=None, hash="", width=1280, **more):
        made = page(width=width, **more)
        made.goto(harness(tmp_path, figure or RecurrenceVersusAttention()) + hash)
        made.wait_for_selector(f"{TAG}[data-ready]")
        return made

    return opened


def check(page, length=12, step=None, factor=1.0) -> None:
    """The numbers at full precision, and the digits on the page, are torch's."""
    step = step or length
    settle(page)
    got = page.evaluate(f"() => document.querySelector('{TAG}').computed()")
    assert (got["length"], got["step"], got["factor"]) == (length, step, factor)
    assert got["waits"] == [length, 1]
    figure = RecurrenceVersusAttention()
    x = figure.x[:length]
    states = figure.states(x, factor)
    recurrent = figure.influence(step, factor)[0]
    attention = figure.influence(length, factor)[1]
    near(got["hidden"], states)
    near(got["context"], figure.context(x))
    near(got["recurrent"], recurrent)
    near(got["attention"], attention)
    box = page.locator(TAG)
    left, right = box.locator(".at-rv-recurrent"), box.locator(".at-rv-attention")
    numbers = left.locator("tbody tr:visible .at-rv-num").all_inner_texts()
    assert numbers == [_power(v) for v in recurrent] + ["not read yet"] * (length - step)
    numbers = right.locator("tbody tr:visible .at-rv-num").all_inner_texts()
    assert numbers == [_power(v) for v in attention]
    assert left.locator(".at-rv-count b").inner_text() == f"{length} steps"
    assert right.locator(".at-rv-count b").inner_text() == "1 step"
    assert left.locator(".at-where").inner_text() == f"step {step} of {length}"
    for part, vector in ((left, states[step - 1]), (right, figure.context(x))):
        digits = ", ".join(fixed(v, 2).replace("-", "−") for v in vector)
        assert f"({digits})" in part.locator(".at-rv-vector").inner_text()
    outputs = box.locator("output").all_inner_texts()
    assert outputs == [f"{length} words", fixed(factor, 1)]
    assert f"{length} × {length} pairs" in box.locator(".at-rv-hint").inner_text()
    said = box.locator(".at-say").inner_text()
    assert _power(recurrent[0]) in said and _power(attention[0]) in said


def widths(page, side: str) -> list[float]:
    settle(page)
    bars = page.locator(f"{TAG} .at-rv-{side} tbody tr:visible .at-rv-track i")
    return bars.evaluate_all("all => all.map((bar) => bar.getBoundingClientRect().width)")


def test_the_start_shows_the_claim_in_torchs_numbers(show):
    page = show()
    check(page)
    falling, level = widths(page, "recurrent"), widths(page, "attention")
    assert falling == sorted(falling)
    assert falling[0] < 0.7 * falling[-1]
    assert level[0] == level[5] == level[8]
    assert min(level) > 0.85 * max(level)


@pytest.mark.parametrize("name", ["sentence", "U times"])
def test_a_mouse_moves_each_slider_to_both_ends(show, name):
    page = show()
    slider = page.get_by_label(name, exact=True)
    size = slider.bounding_box()
    slider.click(position={"x": 2, "y": size["height"] / 2})
    low = {"length": 2} if name == "sentence" else {"factor": 0.5}
    check(page, **low)
    slider.click(position={"x": size["width"] - 2, "y": size["height"] / 2})
    check(page, **({"length": 24} if name == "sentence" else {"factor": 1.5}))


def test_keys_move_each_slider_by_one_step(show):
    page = show()
    page.get_by_label("sentence", exact=True).focus()
    page.keyboard.press("ArrowRight")
    check(page, 13)
    page.keyboard.press("Home")
    check(page, 2)
    page.keyboard.press("End")
    check(page, 24)
    slider = page.get_by_label("U times", exact=True)
    slider.focus()
    page.keyboard.press("ArrowLeft")
    check(page, 24, factor=0.9)
    page.keyboard.press("End")
    check(page, 24, factor=1.5)
    assert slider.get_attribute("aria-valuetext") == "1.5"


def test_a_mouse_steps_through_the_words(show):
    page = show()
    step = {
        name: page.get_by_role("button", name=f"{name} step")
        for name in ("First", "Previous", "Next", "Last")
    }
    step["Previous"].click()
    check(page, step=11)
    step["First"].click()
    check(page, step=1)
    assert step["First"].get_attribute("aria-disabled") == "true"
    step["Previous"].click(force=True)
    check(page, step=1)
    step["Next"].click()
    check(page, step=2)
    step["Last"].click()
    check(page)
    assert step["Last"].get_attribute("aria-disabled") == "true"
    assert step["First"].get_attribute("aria-disabled") == "false"


def test_keys_step_from_any_button_and_keep_the_focus(show):
    page = show()
    page.get_by_role("button", name="Next step").focus()
    for key, step in [
        ("ArrowRight", 12),
        ("ArrowLeft", 11),
        ("ArrowLeft", 10),
        ("Home", 1),
        ("ArrowLeft", 1),
        ("ArrowRight", 2),
        ("Enter", 3),
        ("End", 12),
    ]:
        page.keyboard.press(key)
        check(page, step=step)
    focused = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert focused == "Next step"


def test_a_new_length_reads_to_its_end(show):
    page = show()
    page.get_by_role("button", name="First step").click()
    page.get_by_label("sentence", exact=True).fill("17")
    check(page, 17)


@pytest.mark.parametrize("option", range(3))
def test_each_prediction_doubles_the_sentence(show, option):
    page = show()
    page.get_by_label("U times", exact=True).fill("0.7")
    page.locator(f"{TAG} .at-options button").nth(option).click()
    check(page, 24)
    verdict = page.locator(f"{TAG} .at-predict p").inner_text()
    assert verdict.startswith("✓ Yes." if option == 2 else "✗ Not quite.")
    assert "3.5 × 10⁻³ to 2.3 × 10⁻⁶" in verdict


def test_reset_gives_the_first_numbers_back(show):
    page = show()
    page.get_by_label("sentence", exact=True).fill("7")
    page.get_by_label("U times", exact=True).fill("1.3")
    page.get_by_role("button", name="Previous step").click()
    check(page, 7, 6, 1.3)
    page.get_by_role("button", name="Reset").click()
    check(page)


def test_a_copied_link_restores_the_state(show):
    page = show()
    page.get_by_label("sentence", exact=True).fill("19")
    page.get_by_label("U times", exact=True).fill("1.2")
    page.get_by_role("button", name="Previous step").click()
    page.get_by_role("button", name="Copy link").click()
    page.reload()
    page.wait_for_selector(f"{TAG}[data-ready]")
    check(page, 19, 18, 1.2)


@pytest.mark.parametrize(
    "query", ["length=25", "length=1", "length=2.5", "step=0", "factor=9", 'factor="1"', "length=["]
)
def test_a_broken_link_starts_at_the_first_numbers(show, query):
    check(show(hash=f"#fig-recurrence?{query}"))


def test_a_link_to_a_step_behind_the_end_shows_the_end(show):
    check(show(hash="#fig-recurrence?length=5&step=11"), 5)


def test_a_change_is_announced_in_one_sentence(show):
    page = show()
    page.get_by_role("button", name="Previous step").click()
    page.wait_for_function(
        f"document.querySelector('{TAG} > [role=status]').textContent"
        ".startsWith('After step 11, the influence')",
        timeout=3000,
    )


def test_the_text_says_which_equal_words_have_equal_bars(show):
    page = show()
    note = page.locator(f"{TAG} .at-rv-attention .at-rv-note")
    assert "“the” at 1, 6 and 9." in note.inner_text()
    page.get_by_label("sentence", exact=True).fill("5")
    settle(page)
    assert "Equal words" not in note.inner_text()
    assert "also the query" in note.inner_text()


def test_words_that_look_like_markup_are_shown_as_they_are(show):
    page = show(RecurrenceVersusAttention(["<pad>", "it", "<pad>"]))
    words = page.locator(f"{TAG} .at-rv-recurrent .at-rv-word").all_inner_texts()
    assert words == ["<pad>", "it", "<pad>"]
    assert page.locator(f"{TAG} .at-predict").count() == 0


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_nothing_is_wider_than_the_window(show, width):
    page = show(width=width, hash="#fig-recurrence?length=24&step=24&factor=0.5")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert spilled(page, TAG) == []


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(show, theme, width):
    page = show(width=width)
    page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
    page.locator(f"{TAG} .at-options button").nth(1).click()
    page.get_by_role("button", name="Previous step").click()
    settle(page)
    assert faults_of_axe(page) == []


def test_without_javascript_the_tables_are_there(page, tmp_path):
    made = page(java_script_enabled=False)
    made.goto(harness(tmp_path, RecurrenceVersusAttention()))
    assert "3.5 × 10⁻³" in made.locator(TAG).inner_text()
