import type { Place } from "./join-talk.ts";

/** This tab's conversation, stored so that a reload returns to it. The token is dropped when the tab closes. */
export interface OpenTalk extends Place {
  readonly token: string;
  readonly livekitUrl: string;
}

const OPEN = "parley.open";
const NAME = "parley.name";
const ROOMS = "parley.rooms";
const WANTED = "parley.microphone";
const MAX_ROOMS = 12;

export function loadOpenTalk(): OpenTalk | undefined {
  return read<OpenTalk>(sessionStorage, OPEN);
}

export function saveOpenTalk({ room, identity, about, token, livekitUrl }: OpenTalk): void {
  sessionStorage.setItem(OPEN, JSON.stringify({ room, identity, about, token, livekitUrl }));
  localStorage.setItem(NAME, JSON.stringify(identity));
  const others = loadRooms().filter((each) => each !== room);
  localStorage.setItem(ROOMS, JSON.stringify([room, ...others].slice(0, MAX_ROOMS)));
}

export function forgetOpenTalk(): void {
  sessionStorage.removeItem(OPEN);
}

export function loadName(): string {
  return read<string>(localStorage, NAME) ?? "";
}

/** Returns the rooms that were joined in this browser, newest first. */
export function loadRooms(): readonly string[] {
  return read<readonly string[]>(localStorage, ROOMS) ?? [];
}

export function forgetRoom(room: string): void {
  localStorage.setItem(ROOMS, JSON.stringify(loadRooms().filter((each) => each !== room)));
}

/** Whether this person wants to talk in this tab, and not only to type. Survives a reload. */
export function wantsMicrophone(): boolean {
  return sessionStorage.getItem(WANTED) === "on";
}

export function wantMicrophone(isWanted: boolean): void {
  sessionStorage.setItem(WANTED, isWanted ? "on" : "off");
}

function read<Value>(storage: Storage, key: string): Value | undefined {
  try {
    return (JSON.parse(storage.getItem(key) ?? "null") as Value | null) ?? undefined;
  } catch {
    return undefined;
  }
}
