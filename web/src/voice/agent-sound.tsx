import { useVoice } from "@parley/react";
import { RemoteTrackPublication, type RemoteTrack, RoomEvent, Track } from "livekit-client";
import { type ReactNode, useEffect, useRef } from "react";
import { useJoinedTalk } from "../join/joined-talk.tsx";
import { getVolume, useSound, useVolume } from "./sound-switch.ts";

/**
 * Plays what agents and participants say while the sound is on. Notifies the worker when the sound is turned on or off.
 */
export function AgentSound(): ReactNode {
  const { liveKit } = useJoinedTalk();
  const { listen } = useVoice();
  const isOn = useSound();
  const volume = useVolume();
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => listen(isOn), [listen, isOn]);
  useEffect(() => {
    const subscribe = (publication: unknown) => {
      if (publication instanceof RemoteTrackPublication && publication.kind === Track.Kind.Audio)
        publication.setSubscribed(isOn);
    };
    const subscribeAll = () => {
      for (const { trackPublications } of liveKit.remoteParticipants.values())
        for (const publication of trackPublications.values()) subscribe(publication);
    };
    subscribeAll();
    liveKit.on(RoomEvent.Connected, subscribeAll);
    liveKit.on(RoomEvent.TrackPublished, subscribe);
    return () => {
      liveKit.off(RoomEvent.Connected, subscribeAll);
      liveKit.off(RoomEvent.TrackPublished, subscribe);
    };
  }, [liveKit, isOn]);
  useEffect(() => {
    if (!isOn) return undefined;
    const attach = (track: RemoteTrack) => {
      if (track.kind === Track.Kind.Audio)
        place.current?.append(Object.assign(track.attach(), { volume: getVolume() }));
    };
    const detach = (track: RemoteTrack) => {
      for (const element of track.detach()) element.remove();
    };
    const each = (act: (track: RemoteTrack) => void) => {
      for (const { trackPublications } of liveKit.remoteParticipants.values())
        for (const { track } of trackPublications.values()) if (track) act(track as RemoteTrack);
    };
    each(attach);
    liveKit.on(RoomEvent.TrackSubscribed, attach);
    liveKit.on(RoomEvent.TrackUnsubscribed, detach);
    return () => {
      liveKit.off(RoomEvent.TrackSubscribed, attach);
      liveKit.off(RoomEvent.TrackUnsubscribed, detach);
      // Detaches immediately, because LiveKit takes a while to end a subscription.
      each(detach);
    };
  }, [liveKit, isOn]);
  useEffect(() => {
    for (const audio of place.current?.querySelectorAll("audio") ?? []) audio.volume = volume;
  }, [volume]);
  return <div ref={place} hidden data-testid="sound" />;
}
