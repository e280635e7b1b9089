"""The protocol's limits, as listed in Parley's docs/protocol.md under Limits. Sizes are in bytes when encoded."""

import re

TOPIC = "parley"
"""The topic of packets and byte streams. Packets without a topic are accepted; packets with another one are ignored."""

ENVELOPE_BYTES = 4 * 1024 * 1024
PACKET_BYTES = 15_000
"""The maximum size of a packet. Larger frames are sent as a byte stream."""
DEPTH = 32
VALUES = 50_000
STRING_BYTES = 1024 * 1024
KEY_BYTES = 256
DIFFERENT_KEYS = 1_000
ID_LENGTH = 256
ANNOUNCED_TOOLS = 64
SCHEMA_LENGTH = 32_768
DESCRIPTION_LENGTH = 2_000

DEFAULT_TIMEOUT_MS = 30_000
MAX_TIMEOUT_MS = 600_000

TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")
