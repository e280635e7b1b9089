import { type RemoteTrack, RoomEvent, Track } from "livekit-client";
import { type ReactNode, useEffect, useRef } from "react";
import { useJoinedTalk } from "../join/joined-talk.tsx";

/** Plays what agents and participants say. */
export function AgentSound(): ReactNode {
  const { liveKit } = useJoinedTalk();
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const attach = (track: RemoteTrack) => {
      if (track.kind === Track.Kind.Audio) place.current?.append(track.attach());
    };
    const detach = (track: RemoteTrack) => {
      for (const element of track.detach()) element.remove();
    };
    for (const { trackPublications } of liveKit.remoteParticipants.values())
      for (const { track } of trackPublications.values()) if (track) attach(track as RemoteTrack);
    liveKit.on(RoomEvent.TrackSubscribed, attach);
    liveKit.on(RoomEvent.TrackUnsubscribed, detach);
    return () => {
      liveKit.off(RoomEvent.TrackSubscribed, attach);
      liveKit.off(RoomEvent.TrackUnsubscribed, detach);
    };
  }, [liveKit]);
  return <div ref={place} hidden data-testid="sound" />;
}
