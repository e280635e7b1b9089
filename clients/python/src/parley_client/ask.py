"""Sends a message and waits for its answer."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from .attachment import Attachment
from .errors import ParleyError, Unavailable
from .events import AnswerEnd, ErrorEvent, ToolCall, ToolResult
from .messages import AssistantSentence, StartAnswer

ERROR_FOLLOWS_S = 1.0
"""How many seconds to wait for the worker's ErrorMessage after an empty answer, which is how a failed turn ends."""

Event = TypeVar("Event")


@dataclass(frozen=True)
class Question:
    """The arguments of `send_text`."""

    text: str
    attachments: Sequence[Attachment]
    traceparent: str | None


@dataclass(frozen=True)
class SentText:
    message_id: str
    """The message's id, which is the answer's `previous_id`."""
    acknowledged: "asyncio.Task[None]"
    """Finishes when the worker has stored the message. Raises Unavailable after 60 s, or the worker's error."""


@dataclass(frozen=True)
class WholeAnswer:
    message_id: str
    text: str
    sentences: list[str]
    tool_results: list[ToolResult]
    """The results of the answer's calls, in the order in which they arrived."""


class Talk(Protocol):
    """The methods of a client that an answer uses."""

    def on(self, event: type[Event], handler: Callable[[Event], object]) -> Callable[[], None]: ...

    def send_text(
        self, text: str, *, attachments: Sequence[Attachment] = (), traceparent: str | None = None
    ) -> SentText: ...

    def stop(self, target_id: str | None = None) -> None: ...


class Answer:
    """The answer to one message, while it arrives."""

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._deadline = asyncio.get_running_loop().time() + timeout
        self._message_id = ""
        self._id: str | None = None
        self._sentences: dict[int, str] = {}
        self._given: list[str] = []
        self._last_number = 0
        self._call_ids: set[str] = set()
        self._tool_results: list[ToolResult] = []
        self._end: AnswerEnd | None = None
        self._error: ParleyError | None = None
        self._news = asyncio.Event()

    @classmethod
    @contextlib.contextmanager
    def following(cls, talk: Talk, question: Question, timeout: float) -> Iterator["Answer"]:
        """Sends the text. If the calling task is canceled or leaves the block early, the answer is stopped."""
        answer = cls(timeout)
        offs = [
            talk.on(StartAnswer, answer._on_start),
            talk.on(AssistantSentence, answer._on_sentence),
            talk.on(ToolCall, answer._on_call),
            talk.on(ToolResult, answer._on_result),
            talk.on(AnswerEnd, answer._on_end),
            talk.on(ErrorEvent, answer._on_error),
        ]
        try:
            sent = talk.send_text(question.text, attachments=question.attachments, traceparent=question.traceparent)
            answer._message_id = sent.message_id
            sent.acknowledged.add_done_callback(answer._on_delivered)
            yield answer
        except (asyncio.CancelledError, GeneratorExit):
            if answer._end is None and answer._error is None:
                talk.stop(answer._id)
            raise
        finally:
            for off in offs:
                off()

    async def next_sentence(self) -> str | None:
        """Returns None once the answer is complete. Raises ParleyError if the turn failed, or Unavailable if the answer
        is not complete by the deadline."""
        while True:
            self._news.clear()
            if self._last_number + 1 in self._sentences:
                self._last_number += 1
                text = self._sentences[self._last_number]
                if text:
                    self._given.append(text)
                    return text
            elif self._error:
                raise self._error
            elif self._end and self._end.sentences != self._given:
                # This client was away for too long, so the answer arrived in one piece.
                self._given = self._end.sentences
                return self._end.text
            elif self._end and (self._given or not await self._has_news(ERROR_FOLLOWS_S)):
                return None
            elif not self._end and not await self._has_news(self._deadline - asyncio.get_running_loop().time()):
                raise Unavailable(f"No complete answer arrived within {self._timeout:g} s")

    async def whole(self) -> WholeAnswer:
        while await self.next_sentence() is not None:
            pass
        return WholeAnswer(self._message_id, self._end.text if self._end else "", self._given, self._tool_results)

    async def _has_news(self, timeout: float) -> bool:
        try:
            await asyncio.wait_for(self._news.wait(), timeout)
        except TimeoutError:
            return False
        return True

    def _on_start(self, start: StartAnswer) -> None:
        if start.previous_id == self._message_id:
            self._id = start.id

    def _on_sentence(self, sentence: AssistantSentence) -> None:
        if sentence.previous_id == self._id:
            if sentence.sequence == 0 and self._last_number == 0 and 0 not in self._sentences:
                self._last_number = -1  # Older workers count from 0.
            self._sentences[sentence.sequence] = sentence.text
            self._news.set()

    def _on_call(self, call: ToolCall) -> None:
        if call.message_id == self._id:
            self._call_ids.add(call.id)

    def _on_result(self, result: ToolResult) -> None:
        if result.id in self._call_ids:
            self._tool_results.append(result)

    def _on_end(self, end: AnswerEnd) -> None:
        if end.previous_id == self._message_id:
            self._end = end
            self._news.set()

    def _on_error(self, event: ErrorEvent) -> None:
        if event.originating_id == self._message_id:
            self._error = event.error
            self._news.set()

    def _on_delivered(self, delivery: "asyncio.Task[None]") -> None:
        error = None if delivery.cancelled() else delivery.exception()
        if isinstance(error, ParleyError):
            self._error = self._error or error
            self._news.set()


async def stream(talk: Talk, question: Question, *, timeout: float) -> AsyncGenerator[str, None]:
    with Answer.following(talk, question, timeout) as answer:
        while (sentence := await answer.next_sentence()) is not None:
            yield sentence


async def ask(talk: Talk, question: Question, *, timeout: float) -> WholeAnswer:
    with Answer.following(talk, question, timeout) as answer:
        return await answer.whole()
