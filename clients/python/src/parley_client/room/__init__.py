"""The room: the agents in it, and the transport of frames."""
