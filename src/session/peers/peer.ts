import { keepNewest } from "../../lib/keep-newest.ts";
import { type AnnouncedTool } from "../../tool/tool-routing.ts";
import { MessageBudget } from "./message-budget.ts";
import { type RoomParticipant } from "../room/room-input.ts";

const REMEMBERED_STANZAS = 2_000;

type Tools = ReadonlyMap<string, AnnouncedTool>;

/** One participant of the session, across its reconnects. */
export class Peer {
  readonly identity: string;
  /** LiveKit's id of this join; `""` while only a stream of it has come. */
  sid: string;
  isPresent = true;
  /** A caller by telephone: it can be spoken to, and sent nothing. */
  readonly isSip: boolean;
  /** It has spoken the protocol: it can be asked to run tools. */
  isClient = false;
  features: ReadonlySet<string> = new Set();
  language: string | undefined;
  #seenStanzas = new Set<number>();
  #tools: Tools | undefined;
  #readTools: (() => Tools) | undefined;
  readonly budget = new MessageBudget();

  constructor({ identity, sid, isSip }: RoomParticipant) {
    this.identity = identity;
    this.sid = sid;
    this.isSip = isSip;
  }

  /** It says by Ack whether it takes an `either` call. */
  get claims(): boolean {
    return this.features.has("claims");
  }

  /** `undefined` while unknown. */
  get tools(): Tools | undefined {
    this.readAnnouncement();
    return this.#tools;
  }

  /** Its list, read when somebody asks for it: of several that come soon after each other, only the last one is. */
  announce(read: () => Tools): void {
    this.#readTools = read;
  }

  readAnnouncement(): void {
    const read = this.#readTools;
    this.#readTools = undefined;
    if (read) this.#tools = read();
  }

  /** `true` when this is another join than before: its stanza numbers begin again. */
  join({ sid }: RoomParticipant): boolean {
    const isNewJoin = !this.isPresent || (this.sid !== "" && sid !== "" && sid !== this.sid);
    if (isNewJoin) this.#seenStanzas = new Set();
    if (sid !== "" || isNewJoin) this.sid = sid;
    this.isPresent = true;
    return isNewJoin;
  }

  /** Its numbers may begin again. What must not be handled twice is known by its own id, too. */
  forgetStanzas(): void {
    this.#seenStanzas = new Set();
  }

  /** `false` for a stanza of this join that came before. */
  takeStanza(stanzaId: number): boolean {
    if (this.#seenStanzas.has(stanzaId)) return false;
    this.#seenStanzas.add(stanzaId);
    keepNewest(this.#seenStanzas, REMEMBERED_STANZAS);
    return true;
  }
}
