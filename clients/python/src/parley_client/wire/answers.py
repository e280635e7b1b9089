"""Answers, put together from their sentences."""

from collections.abc import Callable
from dataclasses import dataclass, field

from ..events import AnswerEnd
from ..kept_newest import keep_newest
from ..messages import AssistantMessage, AssistantSentence, StartAnswer

MAX_OPEN = 32


@dataclass
class _OpenAnswer:
    previous_id: str
    sentences: dict[int, AssistantSentence] = field(default_factory=dict)


class Answers:
    """Calls `on_end` when an answer is whole."""

    def __init__(self, on_end: Callable[[AnswerEnd], None]) -> None:
        self._open: dict[str, _OpenAnswer] = {}
        self._on_end = on_end

    @property
    def is_open(self) -> bool:
        return bool(self._open)

    def begin(self, start: StartAnswer) -> None:
        self._open.setdefault(start.id, _OpenAnswer(start.previous_id))
        keep_newest(self._open, MAX_OPEN)

    def add(self, sentence: AssistantSentence) -> None:
        """A long sentence travels as a stream, and may come after the final one."""
        answer = self._open.get(sentence.previous_id)
        if not answer:
            return
        answer.sentences[sentence.sequence] = sentence
        last = max(answer.sentences)
        if answer.sentences[last].is_final and len(answer.sentences) == last:
            del self._open[sentence.previous_id]
            in_order = [answer.sentences[number].text for number in sorted(answer.sentences)]
            texts = [text for text in in_order if text]
            self._on_end(AnswerEnd(sentence.previous_id, answer.previous_id, " ".join(texts), texts))

    def take_whole(self, message: AssistantMessage) -> None:
        """We were away for too long: the worker does not hold the answer's sentences any more."""
        answer = self._open.pop(message.id, None)
        previous_id = message.previous_id or (answer and answer.previous_id)
        if previous_id:
            self._on_end(AnswerEnd(message.id, previous_id, message.content, [message.content]))
