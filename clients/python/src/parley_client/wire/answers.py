"""Assembles answers from their sentences."""

from collections.abc import Callable
from dataclasses import dataclass, field

from ..events import AnswerEnd
from ..evict_oldest import evict_oldest
from ..messages import AssistantMessage, AssistantSentence, StartAnswer

MAX_OPEN = 32


@dataclass
class _OpenAnswer:
    previous_id: str
    sentences: dict[int, AssistantSentence] = field(default_factory=dict)


class Answers:
    """Calls `on_end` when an answer is complete."""

    def __init__(self, on_end: Callable[[AnswerEnd], None]) -> None:
        self._open: dict[str, _OpenAnswer] = {}
        # : The ids of the most recent complete answers.
        self._ended: dict[str, None] = {}
        self._on_end = on_end

    @property
    def is_open(self) -> bool:
        return bool(self._open)

    def begin(self, start: StartAnswer) -> None:
        if start.id in self._ended:
            return
        self._open.setdefault(start.id, _OpenAnswer(start.previous_id))
        evict_oldest(self._open, MAX_OPEN)

    def add(self, sentence: AssistantSentence) -> None:
        """Adds a sentence. The final sentence may arrive before others, because long sentences are sent as streams."""
        answer = self._open.get(sentence.previous_id)
        if not answer:
            return
        answer.sentences[sentence.sequence] = sentence
        last = max(answer.sentences)
        # Sentences are numbered from 1, by older workers from 0.
        if answer.sentences[last].is_final and len(answer.sentences) == last + (0 in answer.sentences):
            in_order = [answer.sentences[number].text for number in sorted(answer.sentences)]
            texts = [text for text in in_order if text]
            self._end(AnswerEnd(sentence.previous_id, answer.previous_id, " ".join(texts), texts))

    def take_whole(self, message: AssistantMessage) -> None:
        """Handles a complete answer. A worker sends one if it no longer has the sentences, or if an earlier worker may
        not have sent all of them."""
        if message.id in self._ended:
            return
        answer = self._open.get(message.id)
        previous_id = message.previous_id or (answer and answer.previous_id)
        if previous_id:
            self._end(AnswerEnd(message.id, previous_id, message.content, [message.content]))

    def _end(self, answer: AnswerEnd) -> None:
        self._open.pop(answer.id, None)
        self._ended[answer.id] = None
        evict_oldest(self._ended, MAX_OPEN)
        self._on_end(answer)
