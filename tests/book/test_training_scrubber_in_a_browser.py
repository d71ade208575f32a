"""Every control of the training figure is moved in a browser; the record says what must be seen."""

import math

import pytest
from live_page import computed, faults_of_axe, harness, near, settle, spilled

from lessons_pkg.figures.live.training_scrubber import TrainingScrubber, _weight
from lessons_pkg.figures.numbers import fixed
from lessons_pkg.training.pronouns import recorded_run, train_pronouns

pytestmark = pytest.mark.browser

TAG = "at-training-scrubber"
RUN = recorded_run()
LAST = 40


@pytest.fixture
def show(page, tmp_path):
    def opened(figure=None, hash="", width=1280, **more):
        made = page(width=width, **more)
        made.goto(harness(tmp_path, figure or TrainingScrubber()) + hash)
        made.wait_for_selector(f"{TAG}[data-ready]")
        return made

    return opened


def slider(page):
    return page.get_by_label("training", exact=True)


def check(page, frame=LAST, positions=True) -> None:
    """The numbers at full precision, and the digits on the page, are the record's."""
    got = computed(page, TAG)
    run = RUN if positions else RUN.control
    rows, loss = run.weights[frame], run.losses[frame]
    right = [rows[0][1], rows[1][4]]
    assert got["step"] == 10 * frame
    near(got["loss"], loss)
    near(got["valueLoss"], run.value_losses[frame])
    near(got["rows"], rows)
    near(got["right"], right)
    box = page.locator(TAG)
    shown = box.locator(".at-ts-strips td > span:first-child").all_inner_texts()
    assert shown == [_weight(weight) for row in rows for weight in row]
    assert box.locator(".at-ts-loss b").all_inner_texts()[1] == fixed(loss)
    said = box.locator(".at-say").inner_text()
    assert said.startswith(
        f"At step {10 * frame} the first “it” gives “dog” the weight {_weight(right[0])}, "
        f"the second gives “ball” {_weight(right[1])}; the loss is {fixed(loss)}."
    )
    assert box.locator("output").inner_text() == f"step {10 * frame} of 400"
    assert slider(page).get_attribute("aria-valuetext") == f"step {10 * frame} of 400"
    chosen = "with positions" if positions else "without positions"
    assert page.get_by_label(chosen, exact=True).is_checked()
    in_chart = [name for name in box.locator(".at-ts-name").all_inner_texts() if name]
    assert in_chart == (["with positions"] if positions else ["with positions", chosen])
    value = run.value_losses[frame]
    note = box.locator(".at-ts-note").inner_text()
    assert note.endswith(f"here it is {fixed(value) if value else 'below 0.0001'}.")


def test_the_start_shows_the_claim(show):
    page = show()
    check(page)
    assert "Each “it” looks most at its own noun." in page.locator(f"{TAG} .at-say").inner_text()
    own = page.locator(f"{TAG} .at-ts-own")
    assert [text.split() for text in own.all_inner_texts()] == [["1.00", "✓"]] * 2
    columns = own.evaluate_all("all => all.map((cell) => cell.cellIndex)")
    heads = page.locator(f"{TAG} .at-ts-strips thead th").all_inner_texts()
    assert [heads[column] for column in columns] == ["dog", "ball"]
    assert "its place, not by its meaning" in page.locator(f"{TAG} .at-ts-note").inner_text()


def test_keys_move_the_slider_through_every_frame(show):
    page = show()
    slider(page).focus()
    page.keyboard.press("ArrowLeft")
    check(page, LAST - 1)
    page.keyboard.press("Home")
    for frame in range(LAST + 1):
        check(page, frame)
        page.keyboard.press("ArrowRight")
    check(page)


def test_a_mouse_drags_the_slider_and_the_thumb_stands_under_the_mark(show):
    page = show()
    size = slider(page).bounding_box()
    middle = size["y"] + size["height"] / 2
    for share, frame in ((0.3, 12), (0.6, 24), (1.0, 40), (0.0, 0)):
        page.mouse.move(size["x"] + 10 + share * (size["width"] - 20), middle)
        page.mouse.down()
        page.mouse.up()
        check(page, frame)
        spot = page.locator(f"{TAG} .at-ts-spot").bounding_box()
        centre = spot["x"] + spot["width"] / 2
        assert abs(centre - (size["x"] + 10 + share * (size["width"] - 20))) < 1.5


@pytest.mark.parametrize(("positions", "frame"), [(True, 12), (True, 40), (False, 3)])
def test_the_mark_and_the_curve_lie_at_the_records_loss(show, positions, frame):
    page = show(hash=f"#fig-training-scrubber?positions={str(positions).lower()}&frame={frame}")
    settle(page)
    losses = (RUN if positions else RUN.control).losses
    top = 1.04 * max(*RUN.losses, *RUN.control.losses)
    plot, spot, now = (
        page.locator(f"{TAG} .at-ts-{name}").evaluate(
            "e => { const r = e.getBoundingClientRect(); return [r.x, r.y, r.width, r.height] }"
        )
        for name in ("plot", "spot", "now")
    )
    bottom = plot[1] + plot[3] - 1  # the frame is one pixel wide
    scale = (plot[3] - 1) / top
    assert spot[0] + spot[2] / 2 == pytest.approx(plot[0] + 1 + (plot[2] - 1) * frame / 40, abs=1)
    assert spot[1] + spot[3] / 2 == pytest.approx(bottom - scale * losses[frame], abs=1)
    assert now[3] == pytest.approx(scale * losses[frame], abs=1)
    drawn = page.locator(f"{TAG} path.at-ts-curve").get_attribute("d")
    points = [[float(x) for x in point.split()] for point in drawn.removeprefix("M").split("L")]
    near([x for x, _ in points], [float(step) for step in RUN.steps])
    near([top - y for _, y in points], losses)


def test_the_dashed_line_lies_at_ln_2_below_the_control(show):
    page = show()
    line = page.locator(f"{TAG} .at-ts-floor")
    assert line.inner_text() == "ln 2 = 0.693"
    plot = page.locator(f"{TAG} .at-ts-plot").bounding_box()
    top = 1.04 * max(*RUN.losses, *RUN.control.losses)
    height = plot["y"] + plot["height"] - 1 - line.bounding_box()["y"]
    assert height == pytest.approx((plot["height"] - 1) * math.log(2) / top, abs=1.5)


def test_without_positions_both_rows_are_equal_at_every_step(show):
    page = show()
    page.get_by_text("without positions", exact=True).first.click()
    check(page, positions=False)
    slider(page).focus()
    page.keyboard.press("Home")
    for frame in range(LAST + 1):
        check(page, frame, False)
        first, second = computed(page, TAG)["rows"]
        assert first == second
        assert "The two rows are equal." in page.locator(f"{TAG} .at-say").inner_text()
        page.keyboard.press("ArrowRight")
    assert "no step can bring the loss below" in page.locator(f"{TAG} .at-ts-note").inner_text()


def test_keys_switch_the_positions_and_keep_the_step(show):
    page = show(hash="#fig-training-scrubber?frame=12")
    check(page, 12)
    page.get_by_label("with positions", exact=True).focus()
    page.keyboard.press("ArrowRight")
    check(page, 12, False)
    page.keyboard.press("ArrowLeft")
    check(page, 12)


@pytest.mark.parametrize(
    ("frame", "text"),
    [
        (0, "Both “it” look most at “the”."),
        (1, "Both “it” look most at “dog”."),
        (5, "Both “it” look most at “ball”."),
        (9, "Each “it” looks most at its own noun."),
    ],
)
def test_the_text_says_where_the_largest_weights_lie(show, frame, text):
    page = show(hash=f"#fig-training-scrubber?frame={frame}")
    assert page.locator(f"{TAG} .at-say b").inner_text() == text


@pytest.mark.parametrize("option", range(3))
def test_each_prediction_shows_the_end_of_the_control(show, option):
    page = show()
    slider(page).fill("7")
    page.locator(f"{TAG} .at-options button").nth(option).click()
    check(page, positions=False)
    verdict = page.locator(f"{TAG} .at-predict p").inner_text()
    assert verdict.startswith("✓ Yes." if option == 2 else "✗ Not quite.")
    assert "ln 2 = 0.693; after 400 steps it is 0.6933." in verdict


def test_reset_gives_the_first_numbers_back(show):
    page = show()
    page.get_by_text("without positions", exact=True).first.click()
    slider(page).fill("3")
    check(page, 3, False)
    page.get_by_role("button", name="Reset").click()
    check(page)


def test_a_copied_link_restores_the_state(show):
    page = show()
    page.get_by_text("without positions", exact=True).first.click()
    slider(page).fill("5")
    page.get_by_role("button", name="Copy link").click()
    page.reload()
    page.wait_for_selector(f"{TAG}[data-ready]")
    check(page, 5, False)


@pytest.mark.parametrize(
    "query", ["frame=41", "frame=-1", "frame=2.5", 'frame="3"', "positions=0", "frame=[", "step=3"]
)
def test_a_broken_link_starts_at_the_first_numbers(show, query):
    check(show(hash=f"#fig-training-scrubber?{query}"))


def test_a_change_is_announced_in_one_sentence(show):
    page = show()
    slider(page).fill("12")
    page.wait_for_function(
        f"document.querySelector('{TAG} > [role=status]').textContent === "
        "'At step 120 the first “it” gives “dog” the weight 0.84, the second gives “ball” 0.87; "
        "the loss is 0.3581.'",
        timeout=3000,
    )


def test_a_run_without_a_control_has_no_switch(show):
    page = show(
        TrainingScrubber(train_pronouns(steps=30), id="own"), hash="#own?positions=false&frame=1"
    )
    assert page.locator(f"{TAG} .at-seg").count() == 0
    assert computed(page, TAG)["step"] == 10
    assert page.locator(f"{TAG} output").inner_text() == "step 10 of 30"
    assert page.locator(f"{TAG} .at-predict").count() == 0


def test_a_narrow_figure_has_a_row_for_each_word_and_keeps_its_roles(show):
    page = show(width=390)
    boxes = page.locator(f"{TAG} .at-ts-strips td").evaluate_all(
        "all => all.map((e) => [e.getBoundingClientRect().x, e.getBoundingClientRect().y])"
    )
    assert len({x for x, _ in boxes[:11]}) == 1 and len({x for x, _ in boxes}) == 2
    assert [y for _, y in boxes[:11]] == sorted(y for _, y in boxes[11:])
    table = page.get_by_role("table", name="Weights of the two")
    assert table.get_by_role("row").count() == 3
    assert table.get_by_role("cell").count() == 22
    assert table.get_by_role("columnheader").count() == 12


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
@pytest.mark.parametrize("frame", [1, 12])
def test_nothing_is_wider_than_the_window(show, width, frame):
    page = show(width=width, hash=f"#fig-training-scrubber?frame={frame}")
    page.get_by_text("without positions", exact=True).first.click()
    settle(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert spilled(page, TAG) == []


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_words_in_the_chart_do_not_lie_on_each_other(show, width):
    page = show(width=width, hash="#fig-training-scrubber?positions=false&frame=20")
    boxes = page.locator(f"{TAG} .at-ts-plot span").evaluate_all(
        """all => all.filter((span) => span.textContent).map((span) => {
          const text = document.createRange();
          text.selectNodeContents(span);
          const { x, y, right, bottom } = text.getBoundingClientRect();
          return [x, y, right, bottom];
        })"""
    )
    assert len(boxes) == 3 + 5 + 1 + 2  # heights, steps, ln 2, the two curves
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            apart = a[0] >= b[2] or b[0] >= a[2] or a[1] >= b[3] or b[1] >= a[3]
            assert apart, (a, b)


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(show, theme, width):
    page = show(width=width)
    page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
    settle(page)
    assert faults_of_axe(page) == []
    page.locator(f"{TAG} .at-options button").nth(1).click()
    slider(page).fill("12")
    settle(page)
    assert faults_of_axe(page) == []


def test_without_javascript_the_tables_are_there(page, tmp_path):
    made = page(java_script_enabled=False)
    made.goto(harness(tmp_path, TrainingScrubber()))
    text = made.locator(TAG).inner_text()
    assert "0.0135" in text and "0.6933" in text
    assert "Training without positions: the loss" in text
