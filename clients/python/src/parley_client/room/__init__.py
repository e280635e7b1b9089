"""The room: which agents are in it, and how frames go through it."""
