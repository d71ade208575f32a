"""Every control of the context vector by hand is moved in a browser; torch says what is seen."""

import math

import pytest
import torch
from live_page import computed, faults_of_axe, harness, near, settle, spilled

from lessons_pkg.attention.dot_product import attend, scores
from lessons_pkg.attention.projections import Projections
from lessons_pkg.figures.live.context_by_hand import ContextByHand
from lessons_pkg.lectures import BALL_TOKENS, BALL_VECTORS, BALL_W_K, BALL_W_Q, BALL_W_V

pytestmark = pytest.mark.browser

TAG = "at-context-by-hand"
STEPS = ["project", "score", "scale", "softmax", "mix"]
NAMES = [f"{i} {word}" for i, word in enumerate(BALL_TOKENS, 1)]
WITHOUT = "without the position column"


@pytest.fixture
def show(page, tmp_path):
    def opened(figure=None, hash="", width=1280, **more):
        made = page(width=width, **more)
        made.goto(harness(tmp_path, figure or ContextByHand()) + hash)
        made.wait_for_selector(f"{TAG}[data-ready]")
        return made

    return opened


def digits(x: float, decimals: int = 2) -> str:
    """Digits as JavaScript prints them; both compute in float64, so only a true tie may differ."""
    from_tie = abs(abs(x) * 10**decimals % 1 - 0.5)
    assert from_tie > 1e-9, x
    return f"{x:.{decimals}f}".replace("-", "−")


def short(x: float) -> str:
    return digits(x, 1 if abs(x * 10 - round(x * 10)) < 1e-9 else 2)


def vector(values, decimals: int = 2) -> str:
    return f"({', '.join(digits(v, decimals) for v in values)})"


def by_package(without: bool):
    x, w_q, w_k, w_v = (
        torch.tensor(m, dtype=torch.float64) for m in (BALL_VECTORS, BALL_W_Q, BALL_W_K, BALL_W_V)
    )
    if without:
        x[:, 2] = 0
    with torch.no_grad():
        roles = Projections.from_matrices(w_q, w_k, w_v)(x)
    context, weights = attend(*roles, scale=1 / math.sqrt(2))
    return x, *roles, scores(roles.query, roles.key), weights, context


def rows_expected(query: int, without: bool) -> list[list[str]]:
    """The text of each cell at the last step."""
    _, queries, key, value, score, weights, _ = by_package(without)
    q, row, w = queries[query].tolist(), score[query].tolist(), weights[query].tolist()
    powers = [math.exp(s / math.sqrt(2)) for s in row]
    return [
        [
            f"k {vector(k)} v {vector(v)}",
            f"({short(q[0])} × {short(k[0])}) + ({short(q[1])} × {short(k[1])}) = {digits(row[j])}",
            digits(row[j] / math.sqrt(2)),
            f"{digits(powers[j])} ÷ {digits(sum(powers))} {digits(w[j])}",
            " ".join(f"{digits(w[j])} × {short(u)} = {digits(w[j] * u, 3)}" for u in v),
        ]
        for j, (k, v) in enumerate(zip(key.tolist(), value.tolist(), strict=True))
    ]


def words(text: str) -> str:
    return " ".join(text.split())


def check(page, query=4, step=5, without=False) -> None:
    """The numbers at full precision, and the digits on the page, are torch's."""
    got = computed(page, TAG)
    assert (got["query"], got["step"], got["without"]) == (query, step, without)
    x, queries, key, value, score, weights, context = by_package(without)
    near(got["x"], x)
    near(got["q"], queries[query])
    near(got["keys"], key)
    near(got["values"], value)
    near(got["scores"], score[query])
    near(got["scaled"], score[query] / math.sqrt(2))
    near(got["weights"], weights[query])
    near(got["products"], weights[query][:, None] * value)
    near(got["context"], context[query])

    box = page.locator(TAG)
    given = box.locator(".at-cb-x td").all_inner_texts()
    assert given == [digits(v, 1) for v in x.flatten().tolist()]
    written = [words(t) for t in box.locator(".at-cb-written p").all_inner_texts()]
    for d, line in enumerate(written):
        pairs = zip(x[query].tolist(), [row[d] for row in BALL_W_Q], strict=True)
        terms = " + ".join(f"({short(a)} × {short(b)})" for a, b in pairs)
        assert line == f"{terms} = {digits(queries[query, d].item())}"
    expected = rows_expected(query, without)
    lines = box.locator(".at-cb-keys tbody tr")
    assert lines.locator("th").all_inner_texts() == NAMES
    for j, row in enumerate(expected):
        cells = [words(t) for t in lines.nth(j).locator("td").all_inner_texts()]
        assert cells == row[:step] + ["– not yet"] * (5 - step)
    bars = lines.locator(".at-weightbar").evaluate_all(
        "all => all.map((bar) => bar.offsetWidth / bar.parentNode.offsetWidth)"
    )
    assert bars == pytest.approx(weights[query].tolist() if step > 3 else [], abs=0.02)
    sums = [words(t) for t in box.locator(".at-cb-sum p:not(.at-cb-head)").all_inner_texts()]
    for d, line in enumerate(sums):
        parts = [digits(p, 3) for p in (weights[query] * value[:, d]).tolist()]
        total = f"{' + '.join(parts)} = {digits(context[query, d].item(), 3)}"
        assert line == (total if step == 5 else "– not yet")

    assert box.locator(".at-where").inner_text() == f"step {step} of 5: {STEPS[step - 1]}"
    marked = box.locator(".at-cb-now").all_inner_texts()
    assert set(marked) == {f"{step} {STEPS[step - 1]}"}
    assert box.locator("[aria-current=step]").count() == len(marked)
    chosen = box.locator(".at-seg input").evaluate_all("all => all.map((each) => each.checked)")
    assert chosen == [j == query for j in range(5)]
    said = box.locator(".at-say").inner_text()
    assert said.startswith(f"Step {step}, {STEPS[step - 1]}: ")
    if step > 3:
        one, four = weights[query, 0].item(), weights[query, 3].item()
        pair = f"{digits(one, 4)} each" if without else f"{digits(one)} and {digits(four)}"
        assert f"get {pair}" in said
        hundredths = sum(float(digits(w)) for w in weights[query].tolist())
        note = f"The printed weights add to {hundredths:.2f}, the unrounded ones to 1."
        assert note in box.locator(".at-cb-note").inner_text()


def step_button(page, name: str):
    return page.get_by_role("button", name=f"{name} step")


def test_the_start_shows_the_lectures_numbers_at_the_last_step(show):
    page = show()
    check(page)
    text = words(page.locator(TAG).inner_text())
    for part in (
        "(1.5 × 0.6) + (1.3 × 0.9) + (0.5 × 0.3) = 2.22",
        "(4.46 × −0.25) = 2.15",
        "= 0.824",
        "get 0.17 and 0.10, because their third column, the position, differs",
        "The printed weights add to 0.99, the unrounded ones to 1.",
    ):
        assert part in text
    weights = page.locator(f"{TAG} .at-pill").all_inner_texts()
    assert weights == ["0.17", "0.16", "0.25", "0.10", "0.31"]


@pytest.mark.parametrize("query", range(5))
def test_a_mouse_chooses_each_query(show, query):
    page = show()
    page.locator(f"{TAG} .at-segs label").nth(query).click()
    check(page, query)


def test_the_two_the_have_names_of_their_own(show):
    page = show()
    for query in (0, 3):
        page.get_by_role("radio", name=NAMES[query], exact=True).check(force=True)
        check(page, query)


def test_keys_choose_the_query(show):
    page = show()
    page.get_by_role("radio", name="5 ball", exact=True).focus()
    page.keyboard.press("ArrowLeft")
    check(page, 3)
    page.keyboard.press("ArrowLeft")
    check(page, 2)
    page.keyboard.press("ArrowRight")
    check(page, 3)


def test_a_mouse_steps_through_the_calculation(show):
    page = show()
    assert step_button(page, "Last").get_attribute("aria-disabled") == "true"
    for step in (4, 3, 2, 1):
        step_button(page, "Previous").click()
        check(page, step=step)
    assert step_button(page, "First").get_attribute("aria-disabled") == "true"
    step_button(page, "Previous").click(force=True)
    check(page, step=1)
    step_button(page, "Next").click()
    check(page, step=2)
    step_button(page, "Last").click()
    check(page)
    step_button(page, "First").click()
    check(page, step=1)


def test_keys_step_and_keep_the_focus(show):
    page = show()
    step_button(page, "Previous").focus()
    for key, step in [("ArrowLeft", 4), ("Home", 1), ("ArrowRight", 2), ("Enter", 1), ("End", 5)]:
        page.keyboard.press(key)
        check(page, step=step)
    focused = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert focused == "Previous step"


@pytest.mark.parametrize("query", [0, 2, 4])
def test_without_the_position_column_both_the_get_the_same_weight(show, query):
    page = show()
    page.locator(f"{TAG} .at-segs label").nth(query).click()
    page.get_by_label(WITHOUT).click()
    check(page, query, without=True)
    weights = computed(page, TAG)["weights"]
    assert weights[0] == weights[3]
    page.get_by_label(WITHOUT).press("Space")
    check(page, query)


def test_without_the_position_column_the_sentence_says_what_each_the_gets(show):
    page = show()
    page.get_by_label(WITHOUT).click()
    settle(page)
    said = page.locator(f"{TAG} .at-say").inner_text()
    assert "words 1 and 4, both “the”, are equal rows and get 0.1187 each." in said
    assert "rises from 2.89 to 2.93, yet its weight falls from 0.17 to 0.12" in said
    for step, part in [(2, "get 2.9257 each."), (1, "have one key and one value.")]:
        page.evaluate(f"document.querySelector('{TAG}').set({{step: {step}}})")
        check(page, step=step, without=True)
        said = page.locator(f"{TAG} .at-say").inner_text()
        assert said.endswith(part)


@pytest.mark.parametrize("option", range(3))
def test_each_prediction_shows_chased_at_the_last_step(show, option):
    page = show()
    page.get_by_label(WITHOUT).click()
    page.locator(f"{TAG} .at-segs label").nth(1).click()
    step_button(page, "Previous").click()
    page.locator(f"{TAG} .at-options button").nth(option).click()
    check(page, query=2)
    verdict = page.locator(f"{TAG} .at-predict p").inner_text()
    assert verdict.startswith("✓ Yes." if option == 2 else "✗ Not quite.")
    assert "ball gets 0.29, chased itself 0.24" in verdict


def test_reset_gives_the_first_numbers_back(show):
    page = show()
    page.locator(f"{TAG} .at-segs label").nth(0).click()
    page.get_by_label(WITHOUT).click()
    step_button(page, "First").click()
    check(page, 0, 1, without=True)
    page.get_by_role("button", name="Reset").click()
    check(page)


def test_a_copied_link_restores_the_state(show):
    page = show()
    page.locator(f"{TAG} .at-segs label").nth(2).click()
    page.get_by_label(WITHOUT).click()
    step_button(page, "Previous").click()
    page.get_by_role("button", name="Copy link").click()
    page.reload()
    page.wait_for_selector(f"{TAG}[data-ready]")
    check(page, 2, 4, without=True)


@pytest.mark.parametrize(
    "query",
    ["query=5", "query=-1", "query=1.5", 'query="1"', "step=0", "step=6", "without=1", "step=["],
)
def test_a_broken_link_starts_at_the_first_numbers(show, query):
    check(show(hash=f"#fig-context-by-hand?{query}"))


def test_another_first_query_starts_and_resets_to_itself(show):
    page = show(ContextByHand(2))
    check(page, 2)
    page.locator(f"{TAG} .at-segs label").nth(4).click()
    page.get_by_role("button", name="Reset").click()
    check(page, 2)


def test_a_change_is_announced_in_one_sentence(show):
    page = show()
    page.get_by_label(WITHOUT).click()
    live = f"document.querySelector('{TAG} > [role=status]').textContent"
    page.wait_for_function(f"{live}.startsWith('Step 5, mix: z₅ = (0.721, 1.002)')", timeout=3000)
    assert page.evaluate(live).endswith("get 0.1187 each.")


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
@pytest.mark.parametrize("state", ["query=2", "without=true", "step=1"])
def test_nothing_is_wider_than_the_window(show, width, state):
    page = show(width=width, hash=f"#fig-context-by-hand?{state}")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert spilled(page, TAG) == []


@pytest.mark.parametrize("width", [320, 390, 640])
@pytest.mark.parametrize("step", range(1, 6))
def test_on_a_narrow_page_the_steps_column_is_seen_and_none_is_cut_on_its_left(show, width, step):
    page = show(width=width, hash=f"#fig-context-by-hand?step={step}")
    settle(page)
    heads = page.locator(f"{TAG} .at-cb-keys thead th")
    spans = heads.evaluate_all(
        "all => all.map((e) => e.getBoundingClientRect()).map((r) => [r.left, r.right])"
    )
    view = page.locator(f"{TAG} .at-cb-box").bounding_box()
    words_end, window_end = spans[0][1], view["x"] + view["width"]
    assert spans[0][0] == pytest.approx(view["x"], abs=1)
    assert spans[step][0] >= words_end - 1
    assert spans[step][1] <= window_end + 1
    assert not any(left < words_end - 1 < right - 1.5 for left, right in spans[1:])
    assert page.locator(f"{TAG} .at-cb-box").evaluate("e => e.tabIndex") == 0


def test_a_column_wider_than_the_window_is_seen_from_its_start(show):
    page = show(width=270, hash="#fig-context-by-hand?step=2")
    settle(page)
    heads = page.locator(f"{TAG} .at-cb-keys thead th")
    words_end, start = heads.evaluate_all(
        "all => [all[0].getBoundingClientRect().right, all[2].getBoundingClientRect().left]"
    )
    assert start == pytest.approx(words_end, abs=1)


def test_on_a_wide_page_the_table_is_no_tab_stop(show):
    page = show()
    settle(page)
    assert page.locator(f"{TAG} .at-cb-box").evaluate("e => e.tabIndex") == -1
    assert not page.get_by_text("The table moves sideways").is_visible()


@pytest.mark.parametrize("width", [390, 1280])
def test_a_step_changes_no_height(show, width):
    page = show(width=width)
    heights = set()
    for step in (5, 4, 3, 2, 1):
        page.evaluate(f"document.querySelector('{TAG}').set({{step: {step}}})")
        settle(page)
        heights.add(round(page.locator(TAG).bounding_box()["height"]))
    assert len(heights) == 1


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(show, theme, width):
    page = show(width=width)
    page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
    page.locator(f"{TAG} .at-options button").nth(0).click()
    settle(page)
    assert faults_of_axe(page) == []
    step_button(page, "Previous").click()
    step_button(page, "Previous").click()
    settle(page)
    assert faults_of_axe(page) == []


def test_without_javascript_the_tables_are_there(page, tmp_path):
    made = page(java_script_enabled=False)
    made.goto(harness(tmp_path, ContextByHand()))
    text = made.locator(TAG).inner_text()
    assert "(0.824, 1.066)" in text
    assert "(2.22 × 1.47) + (4.46 × −0.25)" in text
