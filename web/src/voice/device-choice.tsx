import { Room, RoomEvent } from "livekit-client";
import { type ReactNode, useEffect, useState } from "react";
import { useJoinedTalk } from "../join/joined-talk.tsx";

interface DeviceChoiceProps {
  readonly kind: "audioinput" | "audiooutput";
  readonly label: string;
}

/** Selects a device of one kind. Browsers reveal device names only after a microphone was allowed. */
export function DeviceChoice({ kind, label }: DeviceChoiceProps): ReactNode {
  const { liveKit } = useJoinedTalk();
  const [devices, setDevices] = useState<readonly MediaDeviceInfo[]>([]);
  const [active, setActive] = useState(() => liveKit.getActiveDevice(kind) ?? "");
  const [chosen, setChosen] = useState<string>();
  useEffect(() => {
    const load = () => {
      Room.getLocalDevices(kind, false).then(setDevices, () => setDevices([]));
    };
    load();
    const events = [RoomEvent.MediaDevicesChanged, RoomEvent.LocalTrackPublished] as const;
    for (const event of events) liveKit.on(event, load);
    return () => {
      for (const event of events) liveKit.off(event, load);
    };
  }, [liveKit, kind]);
  useEffect(() => {
    if (chosen === undefined) return undefined;
    const use = () =>
      void liveKit.switchActiveDevice(kind, chosen).catch(() => setActive(liveKit.getActiveDevice(kind) ?? ""));
    use();
    // Waits for the track, because LiveKit cannot switch a microphone that is still being opened.
    liveKit.on(RoomEvent.LocalTrackPublished, use);
    return () => void liveKit.off(RoomEvent.LocalTrackPublished, use);
  }, [liveKit, kind, chosen]);
  const named = devices.filter(({ deviceId, label: name }) => deviceId !== "" && name !== "");
  if (named.length === 0) return null;
  return (
    <label className="field">
      {label}
      <select
        value={active}
        onChange={({ target: { value } }) => {
          setActive(value);
          setChosen(value);
        }}
      >
        {named.map(({ deviceId, label: name }) => (
          <option key={deviceId} value={deviceId}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
