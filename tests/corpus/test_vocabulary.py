"""Words and ids: what goes in comes out, and what is not known is said."""

import pytest

from lessons_pkg.corpus.vocabulary import Vocabulary
from lessons_pkg.lectures import CAT_TOKENS

TEXT = " ".join(CAT_TOKENS)


@pytest.fixture
def cats():
    return Vocabulary.build([TEXT])


def test_the_same_word_gets_the_same_id_wherever_it_stands(cats):
    ids = cats.encode(TEXT).ids
    assert ids == (1, 2, 3, 4, 5, 2)
    assert len(cats) == 6


def test_ids_have_no_gaps_and_lead_back_to_their_words(cats):
    assert [cats.id_of(word) for word in cats.words] == list(range(len(cats)))
    assert [cats.word_of(i) for i in range(len(cats))] == list(cats.words)


def test_decoding_undoes_encoding(cats):
    assert cats.decode(cats.encode(TEXT).ids) == TEXT


def test_unknown_words_are_named_once_and_share_an_id(cats):
    """Known faults F49 and F63: a word that was not in the training part."""
    found = cats.encode("your zebra is a zebra")
    assert found.tokens == ("your", "zebra", "is", "a", "zebra")
    assert found.ids == (1, 0, 3, 4, 0)
    assert found.unknown == ("zebra",)
    assert "zebra" not in cats and "cat" in cats


def test_without_a_token_for_them_unknown_words_are_refused_with_near_ones():
    closed = Vocabulary.build([TEXT], specials=(), unknown=None)
    assert closed.encode(TEXT).ids == (0, 1, 2, 3, 4, 1)
    with pytest.raises(ValueError, match=r"'lovly' \(near: lovely\); 'xyz'"):
        closed.encode("a lovly xyz")


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("don't stop, please.", ("don't", "stop", ",", "please", ".")),
        ("l'amico è qui!", ("l'amico", "è", "qui", "!")),
        ("  two   spaces\n", ("two", "spaces")),
        ("state-of-the-art", ("state-of-the-art",)),
        ("Cat cat", ("Cat", "cat")),
        ("42 %", ("42", "%")),
        ("", ()),
    ],
)
def test_a_text_is_split_into_words_and_marks(text, tokens):
    made = Vocabulary.build([text or "x"])
    assert made.encode(text).tokens == tokens
    assert made.encode(text).unknown == ()


def test_no_text_can_hold_a_special_token():
    made = Vocabulary.build(["a <eos> b"], specials=("<pad>", "<unk>", "<sos>", "<eos>"))
    assert 3 not in made.encode("a <eos> b").ids
    with pytest.raises(ValueError, match=r"must not read like a word.*'PAD'"):
        Vocabulary.build(["a"], specials=("PAD", "<unk>"))


def test_specials_come_first_and_are_left_out_of_text():
    made = Vocabulary.build(["a b"], specials=("<pad>", "<unk>", "<sos>", "<eos>"))
    assert made.words == ("<pad>", "<unk>", "<sos>", "<eos>", "a", "b")
    assert made.decode([2, 4, 5, 3, 0]) == "a b"
    assert made.decode([2, 4], keep_specials=True) == "<sos> a"


def test_rare_words_can_be_left_out():
    made = Vocabulary.build(["a a b", "b c"], min_count=2)
    assert made.words == ("<unk>", "a", "b")


def test_saved_and_loaded_it_is_the_same(cats, tmp_path):
    cats.save(tmp_path / "v.json")
    again = Vocabulary.load(tmp_path / "v.json")
    assert (again.words, again.specials, again.unknown) == (
        cats.words,
        cats.specials,
        cats.unknown,
    )
    assert again.to_json() == cats.to_json()
    assert again.encode("your zebra") == cats.encode("your zebra")


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"form": "other"}', "null", "no json"])
def test_a_file_that_is_no_vocabulary_is_named(text, tmp_path):
    path = tmp_path / "broken.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"broken\.json: expected a saved vocabulary"):
        Vocabulary.load(path)
    with pytest.raises(FileNotFoundError, match=r"none\.json"):
        Vocabulary.load(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda: Vocabulary.build("one text"), TypeError, "got one string"),
        (lambda: Vocabulary.build([1]), TypeError, "text 0 must be a string; got int"),
        (lambda: Vocabulary.build([]), ValueError, "no word"),
        (lambda: Vocabulary.build([" "]), ValueError, "no word"),
        (lambda: Vocabulary.build(["a"], min_count=2), ValueError, "no word"),
        (lambda: Vocabulary.build(["a"], min_count=0), ValueError, "at least 1; got 0"),
        (lambda: Vocabulary.build(["a"], specials=()), ValueError, "unknown must be one of"),
        (lambda: Vocabulary(()), ValueError, "at least one word"),
        (lambda: Vocabulary(("a", "a")), ValueError, "repeated: a"),
        (lambda: Vocabulary(("a", " ")), ValueError, "blank"),
        (lambda: Vocabulary((1,)), TypeError, "strings; got 1"),
        (lambda: Vocabulary(("a", "<pad>"), specials=("<pad>",)), ValueError, "the first words"),
    ],
)
def test_what_makes_no_vocabulary_is_refused(make, error, said):
    with pytest.raises(error, match=said):
        make()


@pytest.mark.parametrize(
    ("use", "error", "said"),
    [
        (lambda v: v.encode(3), TypeError, "text must be a string; got int"),
        (lambda v: v.word_of(6), ValueError, "ids run from 0 to 5; got 6"),
        (lambda v: v.word_of(-1), ValueError, "ids run from 0 to 5; got -1"),
        (lambda v: v.word_of(1.0), TypeError, "whole number; got 1.0"),
        (lambda v: v.word_of(True), TypeError, "whole number; got True"),
        (lambda v: v.decode([1, 99]), ValueError, "got 99"),
        (lambda v: v.id_of("cats"), ValueError, r"'cats' \(near: cat\)"),
    ],
)
def test_wrong_words_and_ids_are_refused(cats, use, error, said):
    with pytest.raises(error, match=said):
        use(cats)
