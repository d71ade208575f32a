"""Every control of every live figure is moved in a browser; Python says what must be seen."""

import math

import pytest
import torch
from live_page import FIGURES, computed, harness, settle, write

from lessons_pkg.attention.dot_product import attend, scores
from lessons_pkg.figures.live import ThreeVectors, TokenOrder
from lessons_pkg.figures.numbers import fixed
from lessons_pkg.lectures import DREAM_TOKENS, DREAM_VECTORS, THREE_VECTORS

pytestmark = pytest.mark.browser

THREE = "at-three-vectors"
ORDER = "at-token-order"
START = [list(row) for row in THREE_VECTORS.values()]


def three() -> ThreeVectors:
    return ThreeVectors(THREE_VECTORS)


def token_order() -> TokenOrder:
    return TokenOrder(DREAM_TOKENS, DREAM_VECTORS)


@pytest.fixture
def show(page, tmp_path):
    """Open a page of figures; wait until each is ready."""

    def opened(*figures, hash="", width=1280, **more):
        made = page(width=width, **more)
        made.goto(harness(tmp_path, *(figures or (three(), token_order()))) + hash)
        for tag in {figure.tag for figure in figures} or (THREE, ORDER):
            made.wait_for_selector(f"{tag}[data-ready]")
        return made

    return opened


def state(page, tag):
    settle(page)
    return page.evaluate(f"() => document.querySelector('{tag}').state")


def near(got, expected) -> None:
    torch.testing.assert_close(torch.tensor(got, dtype=torch.float64), expected, atol=1e-6, rtol=0)


def check_three(page, x, query=0, scaled=False) -> None:
    """The numbers at full precision, and the digits on the page, are Python's."""
    got = computed(page, THREE)
    rows = torch.tensor(x, dtype=torch.float64)
    scale = 1 / math.sqrt(3) if scaled else 1.0
    score = scores(rows[[query]], rows, scale=scale)[0]
    context, weights = attend(rows[[query]], rows, rows, scale=scale)
    near(got["scores"], score)
    near(got["weights"], weights[0])
    near(got["context"], context[0])
    box = page.locator(THREE)
    texts = [row.split("\t") for row in box.locator(".at-list tbody").inner_text().split("\n")]
    digits = [t for row in texts for t in row if t.replace("−", "").replace(".", "").isdigit()]
    pairs = zip(score.tolist(), weights[0].tolist(), strict=True)
    assert digits == [fixed(v, 2).replace("-", "−") for pair in pairs for v in pair]
    shown = box.locator(".at-val").all_inner_texts()
    assert shown == [fixed(v, 2).replace("-", "−") for v in context[0].tolist()]


def check_order(page, order) -> None:
    """Weights, contexts and their mean in this order are Python's, on the page too."""
    got = computed(page, ORDER)
    assert got["order"] == order
    x = torch.tensor([DREAM_VECTORS[i] for i in order], dtype=torch.float64)
    scale = 1 / math.sqrt(3)
    context, weights = attend(x, x, x, scale=scale)
    near(got["scores"], scores(x, x, scale=scale))
    near(got["weights"], weights)
    near(got["context"], context)
    first = torch.tensor(DREAM_VECTORS, dtype=torch.float64)
    near(got["mean"], attend(first, first, first, scale=scale).context.mean(0))
    assert got["change"] < 1e-12
    box = page.locator(ORDER)
    names = [DREAM_TOKENS[i] for i in order]
    assert box.locator(".at-word").all_inner_texts() == names
    assert box.locator(".at-heat tbody th").all_inner_texts() == names
    cells = box.locator(".at-heat td").all_inner_texts()
    assert cells == [fixed(w, 3) for w in weights.flatten()]
    vectors = box.locator(".at-vectors td").all_inner_texts()
    every = torch.cat([context, context.mean(0, keepdim=True)])
    assert vectors == [fixed(z, 2) for z in every.flatten()]
    assert "largest change 0.00" in box.locator(".at-say").inner_text()


# Three vectors


def test_three_vectors_start_at_the_lectures_numbers(show):
    page = show(three())
    check_three(page, START)
    got = computed(page, THREE)
    assert [fixed(v, 2) for v in got["scores"]] == ["0.51"] * 3
    assert [fixed(v, 2) for v in got["weights"]] == ["0.33"] * 3
    assert "(0.5 × 0.9) + (0.5 × 0.1) + (0.1 × 0.1)" in page.locator(THREE).inner_text()


@pytest.mark.parametrize("word", range(3))
@pytest.mark.parametrize("dim", range(3))
def test_each_number_input_moves_the_answer(show, word, dim):
    page = show(three())
    name = f"{list(THREE_VECTORS)[word]}, dimension {dim + 1}"
    before = computed(page, THREE)["context"]
    page.get_by_label(name).fill("-1.3")
    x = [row[:] for row in START]
    x[word][dim] = -1.3
    check_three(page, x)
    assert computed(page, THREE)["context"] != before


@pytest.mark.parametrize("typed", ["3", "-2.5", "", "1e9"])
def test_bad_input_keeps_the_last_good_state(show, typed):
    page = show(three())
    box = page.get_by_label("dog, dimension 1")
    box.fill("1.2")
    box.fill(typed)
    assert box.get_attribute("aria-invalid") == "true"
    said = page.locator(f"[id='{box.get_attribute('aria-describedby')}']")
    assert said.is_visible()
    assert said.inner_text() == "✗ dog, dimension 1: write a number from −2 to 2. 1.2 stays."
    check_three(page, [START[0], [1.2, 0.1, 0.1], START[2]])
    box.blur()
    assert box.input_value() == "1.2"
    assert box.get_attribute("aria-invalid") is None
    assert box.get_attribute("aria-describedby") is None
    assert not page.locator(f"{THREE} .at-wrong").is_visible()


def test_letters_keep_the_last_good_state(show):
    page = show(three())
    box = page.get_by_label("dog, dimension 1")
    box.press("Control+a")
    box.press_sequentially("e")
    check_three(page, START)
    box.blur()
    assert box.input_value() == "0.9"


def test_a_mouse_drags_a_point(show):
    page = show(three())
    plane = page.locator(".at-plane").bounding_box()
    mark = page.locator(".at-handle").nth(1).locator(".at-hit").bounding_box()
    page.mouse.move(mark["x"] + mark["width"] / 2, mark["y"] + mark["height"] / 2)
    page.mouse.down()
    page.mouse.move(plane["x"] + 160 - 70, plane["y"] + 160 + 105, steps=4)
    page.mouse.up()
    check_three(page, [START[0], [-1, -1.5, 0.1], START[2]])
    page.mouse.move(plane["x"] + 20, plane["y"] + 20)
    check_three(page, [START[0], [-1, -1.5, 0.1], START[2]])


def test_a_drag_stops_at_the_edge_of_the_range(show):
    page = show(three())
    mark = page.locator(".at-handle").nth(2).locator(".at-hit").bounding_box()
    page.mouse.move(mark["x"] + 18, mark["y"] + 18)
    page.mouse.down()
    page.mouse.move(1200, 5)
    page.mouse.up()
    x = state(page, THREE)["x"]
    assert x[2][:2] == [2, 2]


def test_arrow_keys_move_a_focused_point(show):
    page = show(three())
    handle = page.locator(".at-handle").nth(2)
    handle.focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowLeft"):
        page.keyboard.press(key)
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowDown")
    check_three(page, [START[0], START[1], [0.15, 1.05, 0.1]])
    assert handle.get_attribute("aria-valuetext") == "dim 1 0.15, dim 2 1.05"


COVERED = """
() => {
  const figure = document.querySelector("at-three-vectors");
  const found = [];
  const box = (node) => node.getBoundingClientRect();
  const words = figure.handles.map((handle) => handle.lastChild);
  const look = (where) => {
    const z = box(figure.z.lastChild);
    for (const word of words) {
      const w = box(word);
      const apart =
        w.right <= z.left || z.right <= w.left || w.bottom <= z.top || z.bottom <= w.top;
      if (!apart) found.push([word.textContent, ...where]);
    }
  };
  look(["start"]);
  for (let a = -2; a <= 2; a += 0.25)
    for (let b = -2; b <= 2; b += 0.25) {
      figure.state.x = [figure.start.x[0], figure.start.x[1], [a, b, 0.1]];
      figure.refresh();
      look([a, b]);
    }
  return found;
}
"""


def test_the_letter_z_covers_no_word_at_the_start_nor_while_ball_moves(show):
    assert show(three()).evaluate(COVERED) == []


def test_the_mark_of_it_is_seen_on_the_mark_of_z(show):
    page = show(three())
    order, z, it = page.evaluate(
        f"""() => {{
          const {{ z, handles }} = document.querySelector("{THREE}");
          const width = (node) => node.getBoundingClientRect().width;
          const mark = handles[0].querySelector(".at-mark");
          return [z.compareDocumentPosition(handles[0]), width(z.firstChild), width(mark)];
        }}"""
    )
    assert order == 4  # the word's mark is drawn after Z's
    assert z > 1.5 * it


@pytest.mark.parametrize("query", [1, 2, 0])
def test_each_word_can_be_the_query(show, query):
    page = show(three())
    page.get_by_label("dog, dimension 2").fill("-0.7")
    segment = page.locator(f"{THREE} .at-segs span")
    segment.nth(1).click()
    segment.nth(query).click()
    check_three(page, [START[0], [0.9, -0.7, 0.1], START[2]], query=query)


def test_the_scale_divides_each_score_by_root_3(show):
    page = show(three())
    page.get_by_label("divide by √3").check()
    check_three(page, START, scaled=True)
    page.get_by_label("divide by √3").uncheck()
    check_three(page, START)


@pytest.mark.parametrize("option", range(4))
def test_each_prediction_sets_the_state_asked_about(show, option):
    page = show(three())
    page.locator(f"{THREE} .at-options button").nth(option).click()
    check_three(page, [START[0], [1.8, 0.2, 0.2], START[2]])
    verdict = page.locator(f"{THREE} .at-predict p").inner_text()
    assert verdict.startswith("✓ Yes." if option == 0 else "✗ Not quite.")
    weights = computed(page, THREE)["weights"]
    assert max(weights) == weights[1]


def test_the_context_vector_lies_in_the_triangle(show):
    page = show(three())
    for word, dim, value in [("it", 1, "-2"), ("dog", 2, "2"), ("ball", 1, "1.5")]:
        page.get_by_label(f"{word}, dimension {dim}").fill(value)
    weights = computed(page, THREE)["weights"]
    assert min(weights) > 0
    assert sum(weights) == pytest.approx(1)


def test_reset_gives_the_first_numbers_back(show):
    page = show(three())
    page.get_by_label("dog, dimension 1").fill("2")
    page.get_by_label("divide by √3").check()
    page.locator(f"{THREE} .at-segs span").nth(2).click()
    page.get_by_role("button", name="Reset").click()
    check_three(page, START)
    assert page.get_by_label("dog, dimension 1").input_value() == "0.9"


def test_a_copied_link_restores_the_state(show):
    page = show(three())
    page.get_by_label("dog, dimension 1").fill("-1.7")
    page.get_by_label("divide by √3").check()
    page.locator(f"{THREE} .at-segs span").nth(1).click()
    page.get_by_role("button", name="Copy link").click()
    page.reload()
    page.wait_for_selector(f"{THREE}[data-ready]")
    check_three(page, [START[0], [-1.7, 0.1, 0.1], START[2]], query=1, scaled=True)


@pytest.mark.parametrize(
    "query", ["x=[[9,0,0],[0,0,0],[0,0,0]]", "x=7", "query=3", "scaled=1", "x=[", "other=1"]
)
def test_a_broken_link_starts_at_the_first_numbers(show, query):
    page = show(three(), hash=f"#fig-three-vectors?{query}")
    check_three(page, START)


def test_a_change_is_announced_in_one_sentence(show):
    page = show(three())
    page.get_by_label("dog, dimension 1").fill("1.8")
    page.wait_for_function(
        f"document.querySelector('{THREE} > [role=status]').textContent.includes('most at “dog”')",
        timeout=3000,
    )


# Token order


def test_token_order_starts_at_pythons_numbers(show):
    check_order(show(token_order()), list(range(6)))


@pytest.mark.parametrize("place", range(6))
def test_each_move_button_swaps_a_word_with_its_neighbour(show, place):
    page = show(token_order())
    buttons = page.locator(f"{ORDER} .at-tokens li").nth(place).get_by_role("button")
    for by, button in ((-1, buttons.nth(0)), (1, buttons.nth(1))):
        page.get_by_role("button", name="Reset").click()
        settle(page)
        button.click(force=True)  # an end button is aria-disabled, and stays in the Tab order
        order = list(range(6))
        if 0 <= place + by < 6:
            order[place], order[place + by] = order[place + by], order[place]
        check_order(page, order)


def test_keys_carry_a_word_along_with_the_focus(show):
    page = show(token_order())
    page.get_by_role("button", name="Move Dream right").focus()
    for _ in range(7):
        page.keyboard.press("Enter")
        settle(page)
    check_order(page, [1, 2, 3, 4, 5, 0])
    label = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert label == "Move Dream right"


def test_the_first_and_the_last_word_swap_and_swap_back(show):
    page = show(token_order())
    page.get_by_role("button", name="Swap first and last").click()
    check_order(page, [5, 1, 2, 3, 4, 0])
    page.get_by_role("button", name="Swap first and last").press("Enter")
    check_order(page, list(range(6)))


def test_a_note_says_what_rounded_rows_may_add_to(show):
    page = show(token_order())
    assert "a row may add to 0.999 or 1.001" in page.locator(f"{ORDER} .at-legend").inner_text()


@pytest.mark.parametrize("tag", [THREE, ORDER])
def test_a_copied_link_is_confirmed_beside_its_button_until_the_next_change(show, tag):
    page = show()
    said = page.locator(f"{tag} .at-foot .at-copied")
    page.locator(f"{tag} .at-foot").get_by_role("button", name="Copy link").click()
    page.wait_for_function(f"document.querySelector('{tag} .at-copied').textContent !== ''")
    assert said.is_visible()
    assert "link" in said.inner_text().lower()
    assert said.inner_text().endswith("It works on this computer only.")
    page.locator(f"{tag} .at-foot").get_by_role("button", name="Reset").click()
    assert said.inner_text() == ""


def test_after_a_wrong_guess_the_right_option_is_marked_too(show):
    page = show(three())
    options = page.locator(f"{THREE} .at-options button")
    options.nth(2).click()
    assert options.all_inner_texts() == ["dog ✓ right", "ball", "it", "all the same"]
    options.nth(0).click()
    assert options.all_inner_texts() == ["dog", "ball", "it", "all the same"]


def test_shuffle_goes_through_its_orders_and_around(show):
    figure = token_order()
    page = show(figure)
    orders = figure.config()["shuffles"]
    for order in [*orders, orders[0]]:
        page.get_by_role("button", name="Shuffle").click()
        check_order(page, order)


def test_reverse_reverses_and_reset_restores(show):
    page = show(token_order())
    page.get_by_role("button", name="Reverse").click()
    check_order(page, [5, 4, 3, 2, 1, 0])
    page.get_by_role("button", name="Reset").click()
    check_order(page, list(range(6)))


@pytest.mark.parametrize("option", range(3))
def test_each_prediction_swaps_dream_and_it(show, option):
    page = show(token_order())
    page.locator(f"{ORDER} .at-options button").nth(option).click()
    check_order(page, [5, 1, 2, 3, 4, 0])
    verdict = page.locator(f"{ORDER} .at-predict p").inner_text()
    assert verdict.startswith("✓ Yes." if option == 1 else "✗ Not quite.")


def test_hover_focus_and_tap_read_the_same_cell(show):
    page = show(token_order(), has_touch=True)
    cell = page.locator(f"{ORDER} .at-heat td").nth(8)
    said = page.locator(f"{ORDER} .at-say")
    texts = []
    cell.hover()
    settle(page)
    texts.append(said.inner_text())
    page.mouse.move(0, 0)
    settle(page)
    assert "Point at" in said.inner_text()
    cell.focus()
    settle(page)
    texts.append(said.inner_text())
    page.keyboard.press("ArrowRight")
    settle(page)
    assert "key work" in said.inner_text()
    cell.tap()
    settle(page)
    texts.append(said.inner_text())
    assert "Query big → key and: score" in texts[0]
    assert "weight 0.147" in texts[0]
    assert texts[0] == texts[1] == texts[2]


def test_a_link_restores_the_order(show):
    page = show(token_order())
    page.get_by_role("button", name="Reverse").click()
    page.get_by_role("button", name="Copy link").click()
    page.reload()
    page.wait_for_selector(f"{ORDER}[data-ready]")
    check_order(page, [5, 4, 3, 2, 1, 0])


def test_a_link_that_repeats_a_word_is_dropped(show):
    page = show(token_order(), hash="#fig-token-order?order=[0,0,1,2,3,4]")
    check_order(page, list(range(6)))


# Tables of the book's own pages


def test_on_a_phone_a_row_of_the_lecture_map_is_a_card_within_the_page(page, tmp_path):
    css = FIGURES.parents[1] / "book" / "_static" / "course.css"
    cells = "<td data-head='said at'>1:20</td><td>a concept in some words of its own</td>"
    code = f"<td data-head='held by'><code>test_{'long_' * 20}name</code></td>"
    table = f"<table><tbody><tr><th scope='row'>C1</th>{cells}{code}</tr></tbody></table>"
    made = page(width=390)
    head = f"<link rel='stylesheet' href='{css.as_uri()}'>"
    made.goto(write(tmp_path, f"<div class='course-table'>{table}</div>", head))
    boxes = [cell.bounding_box() for cell in made.locator("td").all()]
    assert boxes[0]["x"] == boxes[1]["x"] == boxes[2]["x"]
    assert all(box["width"] > 250 and box["x"] + box["width"] <= 390 for box in boxes)
    shown = "getComputedStyle(document.querySelector('td'), '::before').content"
    assert made.evaluate(shown) == '"said at: "'


# Both


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_nothing_is_wider_than_the_window(show, width):
    page = show(width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(show, theme, width):
    from axe_playwright_python.sync_playwright import Axe

    page = show(width=width)
    page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
    for tag in (THREE, ORDER):
        page.locator(f"{tag} .at-options button").nth(1).click()
    page.locator(f"{ORDER} .at-heat td").nth(7).focus()
    settle(page)
    found = Axe().run(page, context="main").response["violations"]
    assert [(f["id"], f["nodes"][0]["html"]) for f in found] == []


@pytest.mark.parametrize("tag", [THREE, ORDER])
def test_one_output_alone_works_from_its_own_script(page, tmp_path, monkeypatch, tag):
    monkeypatch.delenv("LESSONS_BOOK", raising=False)
    figure = three() if tag == THREE else token_order()
    made = page()
    made.goto(write(tmp_path, figure._repr_mimebundle_()["text/html"]))
    made.wait_for_selector(f"{tag}[data-ready]")
    if tag == THREE:
        check_three(made, START)
    else:
        check_order(made, list(range(6)))
    assert made.locator("[id='at-css-figures.css']").count() == 1


def test_two_outputs_with_a_script_each_share_one_style(page, tmp_path, monkeypatch):
    monkeypatch.delenv("LESSONS_BOOK", raising=False)
    body = "".join(f._repr_mimebundle_()["text/html"] for f in (three(), token_order()))
    made = page()
    made.goto(write(tmp_path, body))
    made.wait_for_selector(f"{THREE}[data-ready]")
    made.wait_for_selector(f"{ORDER}[data-ready]")
    check_three(made, START)
    check_order(made, list(range(6)))
    assert made.locator("[id='at-css-figures.css']").count() == 1


def test_a_figure_that_cannot_start_says_so_above_its_table(page, tmp_path):
    made = page()
    address = harness(tmp_path, three())
    path = tmp_path / "page.html"
    text = path.read_text(encoding="utf-8").replace('config="{', 'config="')
    path.write_text(text, encoding="utf-8")
    made.goto(address)
    made.wait_for_selector(".at-error")
    assert "could not start" in made.locator(".at-error").inner_text()
    assert "0.51" in made.locator(THREE).inner_text()


def test_without_javascript_the_table_is_there(page, tmp_path):
    made = page(java_script_enabled=False)
    made.goto(harness(tmp_path, three(), token_order()))
    assert "0.51" in made.locator(f"{THREE} .at-list").inner_text()
    assert "0.147" in made.locator(f"{ORDER} .at-heat").inner_text()
