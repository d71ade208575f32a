"""Words and their ids: the step from text to numbers (prologue).

The ``tokenizers`` library does the work; this module says what was not known.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple, Self

from tokenizers import Regex, Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split

__all__ = ["Vocabulary"]

#: A word may hold apostrophes and hyphens; any other mark stands alone.
_TOKEN = r"\w+(?:['’\-]\w+)*['’]?|[^\w\s]"
_FORM = "lessons_pkg vocabulary 1"


class Encoding(NamedTuple):
    """A text as tokens and ids, and which of its tokens the vocabulary does not hold."""

    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    unknown: tuple[str, ...]


class Vocabulary:
    """The words a model knows, each with its id: the row of the embedding table.

    Make one with :meth:`build` or :meth:`load`. Ids run from 0 without gaps; the special tokens
    come first. Words keep their case, and punctuation marks are tokens of their own.

    Args:
        words: Every token, in the order of its id.
        specials: Which of them are special tokens: the first ones.
        unknown: The special token that stands for every other word; None refuses such words.

    Raises:
        TypeError: A word is not a string.
        ValueError: No words, a blank or repeated one, ``unknown`` or a special is not there, or a
            special token reads like a word.

    Source:
        Lectures [TX4], [L6 40:03]. Prologue.
    """

    def __init__(
        self, words: Sequence[str], *, specials: Sequence[str] = (), unknown: str | None = None
    ) -> None:
        words, specials = tuple(words), tuple(specials)
        for word in words:
            if not isinstance(word, str):
                raise TypeError(f"words must be strings; got {word!r}.")
        if not words:
            raise ValueError("a vocabulary needs at least one word; got none.")
        if any(not word.strip() for word in words):
            raise ValueError("a word must not be blank.")
        repeated = [word for word, count in Counter(words).items() if count > 1]
        if repeated:
            raise ValueError(f"each word must stand once; repeated: {', '.join(repeated)}.")
        if words[: len(specials)] != specials:
            raise ValueError(f"specials must be the first words; got {specials}.")
        for special in specials:
            if re.fullmatch(_TOKEN, special):
                raise ValueError(
                    f"a special token must not read like a word, so that no text can hold it; "
                    f"got {special!r}. Write it as in <unk>."
                )
        if unknown is not None and unknown not in specials:
            raise ValueError(f"unknown must be one of the specials {specials}; got {unknown!r}.")
        self.words = words
        self.specials = specials
        self.unknown = unknown
        ids = {word: i for i, word in enumerate(words)}
        self._tokenizer = Tokenizer(WordLevel(ids, unk_token=unknown or ""))
        self._tokenizer.pre_tokenizer = Split(Regex(_TOKEN), "removed", invert=True)

    @classmethod
    def build(
        cls,
        texts: Iterable[str],
        *,
        specials: Sequence[str] = ("<unk>",),
        unknown: str | None = "<unk>",
        min_count: int = 1,
    ) -> Self:
        """Collect the words of some texts. Give it the training part only.

        Args:
            texts: Sentences, one string each.
            specials: Special tokens; they get the first ids.
            unknown: The special token for words that are not in the texts, or None.
            min_count: How often a word must occur to be kept.

        Returns:
            The vocabulary; words follow in the order in which they first appear.

        Raises:
            TypeError: ``texts`` is a single string, or holds something else than strings.
            ValueError: There is no word, ``min_count`` is below 1, or the specials do not fit.

        Source:
            Lecture [TX4]. Prologue.
        """
        if isinstance(texts, str):
            raise TypeError("texts must be several strings, as in [text]; got one string.")
        if min_count < 1:
            raise ValueError(f"min_count must be at least 1; got {min_count}.")
        split = Split(Regex(_TOKEN), "removed", invert=True)
        counts: Counter[str] = Counter()
        for place, text in enumerate(texts):
            if not isinstance(text, str):
                raise TypeError(f"text {place} must be a string; got {type(text).__name__}.")
            counts.update(token for token, _ in split.pre_tokenize_str(text))
        kept = [word for word, n in counts.items() if n >= min_count]
        if not kept:
            raise ValueError("the texts hold no word to keep.")
        return cls((*specials, *kept), specials=specials, unknown=unknown)

    def __len__(self) -> int:
        """Give the number of ids, special tokens included."""
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        """Say whether this very word has an id of its own."""
        return isinstance(word, str) and self._tokenizer.token_to_id(word) is not None

    def __repr__(self) -> str:
        """Name the size and the special tokens."""
        return f"Vocabulary({len(self)} words, specials {self.specials})"

    def encode(self, text: str) -> Encoding:
        """Split a text into tokens and look up their ids.

        Args:
            text: Any text; an empty one has no tokens.

        Returns:
            ``tokens`` as they stand in the text, their ``ids``, and the ``unknown`` ones, each
            named once; those have the id of the unknown token.

        Raises:
            TypeError: ``text`` is not a string.
            ValueError: A word is not known and the vocabulary has no token for unknown words.

        Source:
            Lecture [TX4]. Prologue.
        """
        if not isinstance(text, str):
            raise TypeError(f"text must be a string; got {type(text).__name__}.")
        if self.unknown is None:
            split = self._tokenizer.pre_tokenizer.pre_tokenize_str(text)
            self._refuse([token for token, _ in split if token not in self])
        found = self._tokenizer.encode(text)
        tokens = tuple(text[start:end] for start, end in found.offsets)
        unknown = dict.fromkeys(token for token in tokens if token not in self)
        return Encoding(tokens, tuple(found.ids), tuple(unknown))

    def decode(self, ids: Iterable[int], *, keep_specials: bool = False) -> str:
        """Turn ids back into words, joined by spaces.

        Args:
            ids: Integers from 0 to ``len(self) - 1``.
            keep_specials: Whether special tokens stand in the text too.

        Returns:
            The text. Spaces before punctuation marks are not taken out.

        Raises:
            TypeError: An id is not a whole number.
            ValueError: An id is out of range.

        Source:
            Lecture [TX14]. Prologue, chapter 9.
        """
        words = [self.word_of(i) for i in ids]
        return " ".join(w for w in words if keep_specials or w not in self.specials)

    def id_of(self, word: str) -> int:
        """Give the id of one known word.

        Args:
            word: A token, spelled as in the vocabulary.

        Returns:
            Its id, the row of its embedding.

        Raises:
            ValueError: The word is not known; near words are named.

        Source:
            Lecture [TX4]. Prologue.
        """
        if word not in self:
            self._refuse([word])
        return self.words.index(word)

    def word_of(self, id: int) -> str:
        """Give the word of one id.

        Args:
            id: A whole number from 0 to ``len(self) - 1``.

        Returns:
            The token with that id.

        Raises:
            TypeError: The id is not a whole number.
            ValueError: The id is out of range.

        Source:
            Lecture [TX4]. Prologue.
        """
        if isinstance(id, bool) or not hasattr(id, "__index__"):
            raise TypeError(f"an id must be a whole number; got {id!r}.")
        if not 0 <= id.__index__() < len(self):
            raise ValueError(f"ids run from 0 to {len(self) - 1}; got {id}.")
        return self.words[id.__index__()]

    def to_json(self) -> str:
        """Write the vocabulary as one line of JSON.

        Returns:
            Text that :meth:`from_json` reads; the same vocabulary gives the same text.

        Source:
            Chapter 8 keeps it with the checkpoint.
        """
        record = {
            "form": _FORM,
            "specials": self.specials,
            "unknown": self.unknown,
            "words": self.words,
        }
        return json.dumps(record, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what :meth:`to_json` wrote.

        Args:
            text: The JSON.

        Returns:
            The vocabulary, equal to the one written.

        Raises:
            ValueError: The text is not such a record.

        Source:
            Chapter 8.
        """
        try:
            record = json.loads(text)
            if record["form"] != _FORM:
                raise ValueError(record["form"])
            words, specials = record["words"], record["specials"]
            return cls(words, specials=specials, unknown=record["unknown"])
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"expected a saved vocabulary ({_FORM}); got {error!r}.") from None

    def save(self, path: str | Path) -> None:
        """Write :meth:`to_json` to a file.

        Args:
            path: Where to write; an older file is replaced.

        Raises:
            OSError: The file cannot be written.

        Source:
            Chapter 8.
        """
        Path(path).write_text(self.to_json() + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a file that :meth:`save` wrote.

        Args:
            path: The file.

        Returns:
            The vocabulary.

        Raises:
            FileNotFoundError: There is no such file.
            ValueError: The file is no saved vocabulary; it is named.

        Source:
            Chapter 8.
        """
        text = Path(path).read_text(encoding="utf-8")
        try:
            return cls.from_json(text)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None

    def _refuse(self, words: Sequence[str]) -> None:
        if not words:
            return
        said = []
        for word in dict.fromkeys(words):
            near = get_close_matches(str(word), self.words, n=3)
            said.append(f"{word!r}" + (f" (near: {', '.join(near)})" if near else ""))
        raise ValueError(f"not in the vocabulary of {len(self)} words: {'; '.join(said)}.")
