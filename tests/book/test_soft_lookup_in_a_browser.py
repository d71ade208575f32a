"""Every control of the soft look-up is moved in a browser; torch says what must be seen."""

import json

import pytest
from live_page import faults_of_axe, harness, near, settle, spilled

from lessons_pkg.figures.live.base import short
from lessons_pkg.figures.live.soft_lookup import QUERIES, TEMPERATURES, SoftLookup
from lessons_pkg.lectures import FILM_KEYS, FILM_TITLES, FILM_VALUES, LOVE

pytestmark = pytest.mark.browser

TAG = "at-soft-lookup"
FIGURE = SoftLookup()
SLIDER = "temperature T"
ACTION = "add the shelf action"


@pytest.fixture
def show(page, tmp_path):
    def opened(figure=None, hash="", width=1280, **more):
        made = page(width=width, **more)
        made.goto(harness(tmp_path, figure or FIGURE) + hash)
        made.wait_for_selector(f"{TAG}[data-ready]")
        return made

    return opened


def digits(value: float, decimals: int = 2) -> str:
    """Without the guard of ``fixed``: the slider goes where one value is 2e-5 from a tie."""
    text = f"{float(value):.{decimals}f}"
    return (text.removeprefix("-") if float(text) == 0 else text).replace("-", "−")


def plain(value: float) -> str:
    return f"{value:g}".replace("-", "−")


def check(page, query=LOVE, temperature=1.0, action=False) -> None:
    """The numbers at full precision, and the digits on the page, are torch's."""
    settle(page)
    got = page.evaluate(f"() => document.querySelector('{TAG}').computed()")
    names = FIGURE.shelves(action)
    row, weights, mix = FIGURE.look_up(query, temperature=temperature, action=action)
    best = FIGURE.winners(query, action=action)
    assert got["temperature"] == temperature
    near(got["scores"], row)
    near(got["weights"], weights)
    near(got["mix"], mix)
    assert [list(FILM_KEYS)[i] for i in got["winners"]] == list(best)
    assert got["hard"] == (list(FILM_VALUES[best[0]]) if len(best) == 1 else None)
    box = page.locator(TAG)
    shelves = box.locator(".at-sl-shelf:visible")
    assert shelves.count() == len(names)
    for i, name in enumerate(names):
        one = shelves.nth(i)
        assert name in one.locator("th").inner_text()
        assert one.locator(".at-sl-score b").inner_text() == short(row[i].item())
        assert one.locator(".at-pill").inner_text() == digits(weights[i])
        assert one.locator(".at-sl-film").inner_text() == FILM_TITLES[name]
        marks = one.locator(".at-sl-mark").all_inner_texts()
        assert marks == [plain(mark) for mark in FILM_VALUES[name]]
        track, bar = (
            one.locator(part).bounding_box()["width"] for part in (".at-track", ".at-weightbar")
        )
        assert bar == pytest.approx(track * weights[i].item(), abs=1)
    ways = box.locator(".at-sl-way")
    vector = f"({', '.join(plain(x) for x in query)})"
    assert f"films[{vector}]" in ways.nth(0).inner_text()
    equal = [name for name in names if list(FILM_KEYS[name]) == list(query)]
    for i, (found, none) in enumerate([(equal, "KeyError"), (best, "a tie: ")]):
        answer = ways.nth(i).locator(".at-sl-film").inner_text()
        marks = ways.nth(i).locator(".at-sl-mark").all_inner_texts()
        if len(found) == 1:
            assert answer == FILM_TITLES[found[0]]
            assert marks == [plain(mark) for mark in FILM_VALUES[found[0]]]
        else:
            assert answer.startswith(none)
            assert all(name in answer for name in found)
            assert all(mark.startswith("–") for mark in marks)
    assert ways.nth(2).locator(".at-sl-mark").all_inner_texts() == [digits(z) for z in mix]
    said = box.locator(".at-say").inner_text()
    terms = [f"{digits(w, 3)} · {FILM_TITLES[n]}" for n, w in zip(names, weights, strict=True)]
    assert f"z = {' + '.join(terms)} = ({', '.join(digits(z) for z in mix)})." in said
    assert float(box.locator("output").inner_text()) == temperature
    cells = [float(cell.input_value()) for cell in box.locator("input[type=number]").all()]
    assert cells == list(query)
    named = [name for name, each in QUERIES.items() if list(each) == list(query)]
    checked = box.locator(".at-seg input").evaluate_all(
        "all => all.filter((one) => one.checked).map((one) => one.value)"
    )
    assert checked == named
    assert page.get_by_label(ACTION).is_checked() == action


def test_the_start_shows_that_a_score_of_0_is_not_a_weight_of_0(show):
    page = show()
    check(page)
    said = page.locator(f"{TAG} .at-say").inner_text()
    assert "0.665 · Titanic + 0.245 · Some Like It Hot + 0.090 · Psycho" in said
    assert (
        "A score of 0 is not a weight of 0: the score of horror is 0, its weight is 0.090." in said
    )
    assert "The Dark Knight" not in page.locator(TAG).inner_text()


@pytest.mark.parametrize("name", ["thrill", "anything", "love"])
def test_a_mouse_chooses_each_named_query(show, name):
    page = show(SoftLookup((1, 2, 3)))
    check(page, (1, 2, 3))
    page.locator(f"{TAG} .at-segs").get_by_text(name, exact=True).click()
    check(page, QUERIES[name])
    page.get_by_label(ACTION).check()
    check(page, QUERIES[name], action=True)


def test_arrow_keys_go_through_the_named_queries(show):
    page = show()
    page.locator(f"{TAG} .at-seg input").first.focus()
    for name in ("thrill", "anything", "love"):
        page.keyboard.press("ArrowRight")
        check(page, QUERIES[name])


def test_the_shelf_action_has_a_negative_score_and_a_positive_weight(show):
    page = show()
    page.get_by_label(ACTION).check()
    check(page, action=True)
    said = page.locator(f"{TAG} .at-say").inner_text()
    assert (
        "A negative score is no negative weight: action scores −0.6, its weight is 0.047." in said
    )
    page.get_by_label(ACTION).focus()
    page.keyboard.press("Space")
    check(page)


@pytest.mark.parametrize("mark", range(3))
def test_each_number_of_the_query_moves_the_answer(show, mark):
    page = show()
    page.get_by_label(ACTION).check()
    cell = page.locator(f"{TAG} input[type=number]").nth(mark)
    assert cell.get_attribute("aria-label") == f"query, {('romance', 'fun', 'fear')[mark]}"
    cell.fill("-1.5")
    query = list(LOVE)
    query[mark] = -1.5
    check(page, query, action=True)
    cell.press("ArrowUp")
    query[mark] = -1.0
    check(page, query, action=True)


@pytest.mark.parametrize("typed", ["3.5", "-4", "", "1e9"])
def test_bad_input_keeps_the_last_good_query(show, typed):
    page = show()
    cell = page.get_by_label("query, fun")
    cell.fill("0.5")
    cell.fill(typed)
    assert cell.get_attribute("aria-invalid") == "true"
    said = page.locator(f"[id='{cell.get_attribute('aria-describedby')}']")
    assert said.inner_text() == "✗ query, fun: write a number from −3 to 3. 0.5 stays."
    cell.blur()
    check(page, (2, 0.5, 0))
    assert cell.get_attribute("aria-invalid") is None
    assert not said.is_visible()


def test_a_mouse_moves_the_temperature_to_both_ends(show):
    page = show()
    slider = page.get_by_label(SLIDER)
    size = slider.bounding_box()
    slider.click(position={"x": 2, "y": size["height"] / 2})
    check(page, temperature=TEMPERATURES[0])
    slider.click(position={"x": size["width"] - 2, "y": size["height"] / 2})
    check(page, temperature=TEMPERATURES[-1])


def test_keys_move_the_temperature_through_every_step(show):
    page = show()
    slider = page.get_by_label(SLIDER)
    slider.focus()
    page.keyboard.press("Home")
    for temperature in TEMPERATURES:
        check(page, temperature=temperature)
        assert float(slider.get_attribute("aria-valuetext")) == temperature
        page.keyboard.press("ArrowRight")
    check(page, temperature=TEMPERATURES[-1])


def test_the_cold_end_returns_what_the_hard_look_up_returns(show):
    page = show()
    page.get_by_label(SLIDER).fill("0")
    check(page, temperature=0.02)
    assert page.locator(f"{TAG} .at-pill").first.inner_text() == "1.00"
    hard, soft = (
        [
            float(x)
            for x in page.locator(f"{TAG} .at-sl-way")
            .nth(i)
            .locator(".at-sl-mark")
            .all_inner_texts()
        ]
        for i in (1, 2)
    )
    assert hard == soft
    assert "So cold, soft look-up returns what" in page.locator(f"{TAG} .at-say").inner_text()
    weights = page.evaluate(f"document.querySelector('{TAG}').computed().weights")
    assert 0 < weights[2] < 1e-40


def test_the_largest_scores_in_the_cold_are_still_numbers(show):
    page = show()
    for mark in ("romance", "fun", "fear"):
        page.get_by_label(f"query, {mark}").fill("3" if mark == "romance" else "-3")
    page.get_by_label(ACTION).check()
    page.get_by_label(SLIDER).fill("0")
    page.get_by_label(SLIDER).focus()
    check(page, (3, -3, -3), 0.02, action=True)


def test_no_claim_says_that_a_weight_is_0(show):
    page = show()
    page.get_by_label(ACTION).check()
    for notch in range(len(TEMPERATURES)):
        page.get_by_label(SLIDER).fill(str(notch))
        settle(page)
        claim = page.locator(f"{TAG} .at-say > span").nth(1).inner_text()
        assert "0.000" not in claim
        assert ("A score of 0 is not" in claim) != ("So cold" in claim)


def test_a_tie_is_named_and_shared_in_the_cold(show):
    page = show()
    page.get_by_label("query, fun").fill("2")
    page.get_by_label(SLIDER).fill("0")
    page.get_by_label(SLIDER).focus()
    check(page, (2, 2, 0), 0.02)
    hard = page.locator(f"{TAG} .at-sl-way").nth(1)
    assert hard.locator(".at-sl-film").inner_text() == "a tie: romantic and comedy"
    assert "only the tied films count" in page.locator(f"{TAG} .at-say").inner_text()


def test_equal_scores_give_equal_weights(show):
    page = show(hash="#fig-soft-lookup?query=[0,0,0]&action=true&temperature=0.02")
    check(page, (0, 0, 0), 0.02, action=True)
    assert page.locator(f"{TAG} .at-pill").all_inner_texts() == ["0.25"] * 4


def test_the_dictionary_answers_a_query_that_equals_a_key(show):
    page = show(SoftLookup((0, 0, 1)))
    check(page, (0, 0, 1))
    first = page.locator(f"{TAG} .at-sl-way").first.locator(".at-sl-film")
    assert first.inner_text() == "Psycho"
    page.get_by_label("query, fear").fill("1.01")
    settle(page)
    assert first.inner_text() == "KeyError"


@pytest.mark.parametrize("option", range(3))
def test_each_prediction_sets_the_state_asked_about(show, option):
    page = show()
    page.locator(f"{TAG} .at-segs").get_by_text("thrill").click()
    page.get_by_label(SLIDER).fill("3")
    page.locator(f"{TAG} .at-options button").nth(option).click()
    check(page, action=True)
    verdict = page.locator(f"{TAG} .at-predict p").inner_text()
    assert verdict.startswith("✓ Yes." if option == 2 else "✗ Not quite.")
    assert "0.55 / 11.66 = 0.047" in verdict


def changed(page) -> None:
    page.get_by_label("query, fear").fill("2.5")
    page.get_by_label(SLIDER).fill("12")
    page.get_by_label(ACTION).check()
    check(page, (2, 1, 2.5), TEMPERATURES[12], True)


def test_reset_gives_the_first_numbers_back(show):
    page = show()
    changed(page)
    page.get_by_role("button", name="Reset").click()
    check(page)


def test_a_copied_link_restores_the_state(show):
    page = show()
    changed(page)
    page.get_by_role("button", name="Copy link").click()
    page.reload()
    page.wait_for_selector(f"{TAG}[data-ready]")
    check(page, (2, 1, 2.5), TEMPERATURES[12], True)


@pytest.mark.parametrize(
    "query",
    [
        *("query=[2,1]", "query=[2,1,4]", 'query=["2",1,0]', 'query="love"', "query=["),
        *("temperature=0", "temperature=0.04", 'temperature="1"', "action=1", "preset=thrill"),
        *("notch=0", "at=1"),
    ],
)
def test_a_broken_link_starts_at_the_first_numbers(show, query):
    check(show(hash=f"#fig-soft-lookup?{query}"))


def test_a_change_is_announced_in_one_sentence(show):
    page = show()
    page.locator(f"{TAG} .at-segs").get_by_text("thrill").click()
    mix = FIGURE.look_up(QUERIES["thrill"]).mix
    marks = "romance {}, fun {} and fear {}".format(*(digits(z) for z in mix))
    sentence = f"Psycho has 0.84 of the weight; the mix is {marks}."
    page.wait_for_function(
        f"document.querySelector('{TAG} > [role=status]').textContent === {json.dumps(sentence)}",
        timeout=3000,
    )


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
@pytest.mark.parametrize("query", ["[0,0,0]", "[-2.75,-2.75,-2.75]"])
def test_nothing_is_wider_than_the_window(show, width, query):
    page = show(width=width)
    page.locator(f"{TAG} .at-options button").first.click()
    settle(page)
    page.evaluate(f"location.hash = 'fig-soft-lookup?query={query}&temperature=0.02&action=true'")
    check(page, json.loads(query), 0.02, action=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert spilled(page, TAG) == []


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(show, theme, width):
    page = show(width=width)
    page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
    page.locator(f"{TAG} .at-options button").nth(0).click()
    page.get_by_label(ACTION).check()
    page.get_by_label("query, fun").fill("9")
    settle(page)
    assert faults_of_axe(page) == []


@pytest.mark.parametrize("width", [390, 1280])
def test_without_javascript_the_tables_are_there(page, tmp_path, width):
    made = page(width=width, java_script_enabled=False)
    made.goto(harness(tmp_path, SoftLookup()))
    box = made.locator(TAG).bounding_box()
    for table in made.locator(f"{TAG} table").all():
        inner = table.bounding_box()
        assert inner["x"] + inner["width"] < box["x"] + box["width"]
    text = made.locator(TAG).inner_text()
    assert "7.79" in text and "Psycho" in text and "KeyError" in text
