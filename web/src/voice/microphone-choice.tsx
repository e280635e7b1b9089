import { useVoice } from "@parley/react";
import { Room, RoomEvent } from "livekit-client";
import { type ReactNode, useEffect, useState } from "react";
import { useJoinedTalk } from "../join/joined-talk.tsx";

/** Chooses the microphone, or says why there is none. Browsers tell the names only after one was allowed. */
export function MicrophoneChoice(): ReactNode {
  const { liveKit } = useJoinedTalk();
  const { listens } = useVoice();
  const [devices, setDevices] = useState<readonly MediaDeviceInfo[]>([]);
  const [active, setActive] = useState("");
  useEffect(() => {
    const load = () => {
      Room.getLocalDevices("audioinput", false).then(setDevices, () => setDevices([]));
    };
    load();
    const events = [RoomEvent.MediaDevicesChanged, RoomEvent.LocalTrackPublished] as const;
    for (const event of events) liveKit.on(event, load);
    return () => {
      for (const event of events) liveKit.off(event, load);
    };
  }, [liveKit]);
  useEffect(() => {
    if (active === "") return undefined;
    const use = () => void liveKit.switchActiveDevice("audioinput", active).catch(() => setActive(""));
    use();
    // Waits for the track, because LiveKit cannot change a microphone that is being opened.
    liveKit.on(RoomEvent.LocalTrackPublished, use);
    return () => void liveKit.off(RoomEvent.LocalTrackPublished, use);
  }, [liveKit, active]);
  if (listens === false)
    return (
      <p className="hint">
        This agent cannot hear, so there is no microphone here. To change that, set STT on its worker.
      </p>
    );
  const named = devices.filter(({ deviceId, label }) => deviceId !== "" && label !== "");
  if (named.length === 0) return null;
  return (
    <label className="field">
      Microphone
      <select value={active} onChange={({ target: { value } }) => setActive(value)}>
        {named.map(({ deviceId, label }) => (
          <option key={deviceId} value={deviceId}>
            {label}
          </option>
        ))}
      </select>
    </label>
  );
}
