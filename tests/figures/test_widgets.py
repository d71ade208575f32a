"""The explorers: their logic, and the widgets driven by setting values."""

import html
import re

import ipywidgets
import pytest
import torch

from lessons_pkg.figures.widgets import (
    attention_explorer,
    explore,
    parse_vectors,
    vectors_explorer,
)

SENTENCE = "the dog chased the ball but it could not catch it"


def parts(box):
    text, row, message, result = box.children
    numbers, seeds, scaled, query = row.children
    return text, numbers, seeds, scaled, query, message, result


def controls(box):
    for child in box.children:
        if isinstance(child, ipywidgets.Box):
            yield from controls(child)
        elif not isinstance(child, ipywidgets.HTML):
            yield child


def shown_weights(value):
    body = value.split("<tbody>")[1].split("</tbody>")[0]
    return [
        [float(cell) for cell in re.findall(r"<td[^>]*>([\d.]+)</td>", row)]
        for row in re.findall(r"<tr.*?</tr>", body)
    ]


def test_equal_words_get_equal_vectors_and_equal_context():
    found = explore(SENTENCE, 4, 0, True)
    assert torch.equal(found.vectors[0], found.vectors[3])
    assert not torch.equal(found.vectors[0], found.vectors[1])
    assert found.equal_words() == {"the": [0, 3], "it": [6, 10]}
    assert found.equal_words_have_equal_context()


def test_unequal_context_of_equal_words_is_seen():
    found = explore("a a", 2, 0, False)
    found.context[1] += 1
    assert not found.equal_words_have_equal_context()


def test_rows_of_weights_sum_to_one():
    weights = explore(SENTENCE, 64, 3, False).weights
    torch.testing.assert_close(weights.sum(-1), torch.ones(11))


def test_scaling_divides_the_scores_by_the_root_of_the_width():
    plain, scaled = (explore("a b", 16, 1, flag).weights.log() for flag in (False, True))
    gap_plain, gap_scaled = plain[0, 0] - plain[0, 1], scaled[0, 0] - scaled[0, 1]
    torch.testing.assert_close(gap_plain, 4 * gap_scaled, rtol=1e-3, atol=1e-3)


def test_the_seed_decides_the_vectors():
    assert torch.equal(explore("a b", 3, 5, True).vectors, explore("a b", 3, 5, True).vectors)
    assert not torch.equal(explore("a b", 3, 5, True).vectors, explore("a b", 3, 6, True).vectors)


@pytest.mark.parametrize(
    ("sentence", "width", "seed"),
    [("", 3, 0), ("  ", 3, 0), ("a " * 65, 3, 0), ("a", 0, 0), ("a", 513, 0), ("a", 3, -1)],
)
def test_input_out_of_range_is_refused_with_a_sentence(sentence, width, seed):
    with pytest.raises(ValueError, match=r"\.$"):
        explore(sentence, width, seed, False)


def test_vectors_are_read_one_a_line():
    text = "it: 0.5 0.5 .1\n\n<pad>: −1, 2, 3e1\r\na:b: 0 0 0"
    assert parse_vectors(text) == {
        "it": (0.5, 0.5, 0.1),
        "<pad>": (-1.0, 2.0, 30.0),
        "a:b": (0.0, 0.0, 0.0),
    }


def test_every_malformed_line_is_named_by_its_number():
    text = "it: 1 2\n\nno colon\ndog: 1 x\n: 1 2\ncat:\nit: 3 4\nlong: 1 2 3\nbig: nan 1"
    with pytest.raises(ValueError) as caught:
        parse_vectors(text)
    named = re.findall(r"^Line (\d+): ", str(caught.value), flags=re.MULTILINE)
    assert named == ["3", "4", "5", "6", "7", "8", "9"]


def test_text_without_a_vector_is_refused():
    with pytest.raises(ValueError, match="no vector"):
        parse_vectors(" \n")


@pytest.mark.parametrize("box", [attention_explorer(), vectors_explorer({"a": (1.0,)})])
def test_every_control_has_a_description(box):
    assert all(control.description for control in controls(box))


def test_the_table_shows_what_attend_returns():
    _, *_, result = parts(attention_explorer())
    wanted = explore(SENTENCE, 3, 0, False).weights
    assert len(shown_weights(result.value)) == 11
    torch.testing.assert_close(
        torch.tensor(shown_weights(result.value)), wanted, atol=0.0051, rtol=0
    )
    assert "Equal words, equal context: yes" in result.value
    assert "row sums to 1.0000" in result.value


def test_every_control_changes_the_result():
    text, numbers, seeds, scaled, query, message, result = parts(attention_explorer())
    seen = [result.value]
    for control, value in (
        (numbers, 8),
        (seeds, 7),
        (scaled, True),
        (query, 4),
        (text, "a b a c d e"),
    ):
        control.value = value
        seen.append(result.value)
        assert message.value == ""
    assert len(set(seen)) == len(seen)
    wanted = explore("a b a c d e", 8, 7, True).weights
    torch.testing.assert_close(
        torch.tensor(shown_weights(result.value)), wanted, atol=0.0051, rtol=0
    )
    assert query.value == 4
    assert "“d” (word 5) looks most at" in result.value


def test_the_query_moves_into_a_shorter_sentence():
    text, *_, query, _, result = parts(attention_explorer())
    query.value = 10
    text.value = "no word twice"
    assert query.value == 2
    assert [label for label, _ in query.options] == ["1. no", "2. word", "3. twice"]
    assert "“twice” (word 3)" in result.value
    assert "No word occurs twice" in result.value


@pytest.mark.parametrize("bad", ["", "   ", "w " * 65])
def test_a_bad_sentence_is_reported_and_the_last_good_result_stays(bad):
    text, *_, message, result = parts(attention_explorer())
    good = result.value
    text.value = bad
    assert "Error." in message.value
    assert result.value == good
    text.value = "all good"
    assert message.value == ""
    assert result.value != good


def test_words_with_angle_brackets_are_escaped():
    text, *_, result = parts(attention_explorer())
    text.value = "<pad> <script>x</script> <pad>"
    assert "<pad>" not in result.value and "<script" not in result.value
    assert "<pad>" in html.unescape(result.value)


def test_widest_and_longest_input_is_shown():
    text, numbers, *_, message, result = parts(attention_explorer())
    text.value = " ".join(f"w{i}" for i in range(64))
    numbers.value = 512
    assert message.value == ""
    assert len(shown_weights(result.value)) == 64
    assert "(512 numbers)" in result.value


def test_own_vectors_of_any_number_and_width_are_mixed():
    area, message, result = vectors_explorer({"it": (0.5, 0.5, 0.1)}).children
    area.value = "<a>: 1 0 0 0 0\nb: 0 0 0 0 -2"
    assert message.value == ""
    e = 2.718281828459045
    torch.testing.assert_close(
        torch.tensor(shown_weights(result.value)[0]),
        torch.tensor([e / (e + 1), 1 / (e + 1)]),
        atol=0.0051,
        rtol=0,
    )
    assert "&lt;a&gt;" in result.value and "<a>" not in result.value
    assert "(0.73, 0.00, 0.00, 0.00, −0.54)" in result.value
    area.value = "\n".join(f"w{i}: {i % 3}" for i in range(100))
    assert "100 words" in result.value and message.value == ""


@pytest.mark.parametrize("bad", ["", "it 1 2", "<b>: 1 y", "big: 1e200\nneg: -1e200"])
def test_bad_vectors_are_reported_and_the_last_good_result_stays(bad):
    area, message, result = vectors_explorer({"it": (0.5, 0.5, 0.1)}).children
    good = result.value
    area.value = bad
    assert "Error." in message.value
    assert "<b>:" not in message.value
    assert result.value == good
