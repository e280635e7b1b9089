import { LIMITS } from "../../protocol/limits.ts";
import { evictOldest } from "../../lib/evict-oldest.ts";
import type { AnnouncedTool } from "../../tool/tool-routing.ts";
import { MessageBudget } from "./message-budget.ts";
import type { RoomParticipant } from "../room/room-input.ts";

const REMEMBERED_STANZAS = 2_000;

type Tools = ReadonlyMap<string, AnnouncedTool>;

/** One participant of the session, across its reconnects. */
export class ParticipantState {
  readonly identity: string;
  /** LiveKit's id of this join; `""` while only a stream from the participant has arrived. */
  sid: string;
  isPresent = true;
  /** How often the participant has joined. It may have missed what was shown during an earlier join. */
  joins = 1;
  /** Whether this is a phone caller, who can hear the agent but cannot receive data. */
  readonly isSip: boolean;
  /** Whether the participant has sent a protocol message, and so can be asked to run tools. */
  isClient = false;
  features: ReadonlySet<string> = new Set();
  /** Whether the participant plays the agent's audio. Assumed unless its Configuration says otherwise. */
  listens = true;
  /** Whether the client has asked for missed messages since joining. */
  hasCaughtUp = false;
  /** The language chosen by `set_language`. It applies until the client's preferred language changes. */
  chosenLanguage: string | undefined;
  #preferredLanguage: string | undefined;
  #seenStanzas = new Set<number>();
  /** Messages, by stanza, that are being stored or could not be stored. */
  #storing = new Map<number, Promise<void>>();
  #tools: Tools | undefined;
  #readTools: (() => Tools | undefined) | undefined;
  /** The budget for what the participant sends. */
  readonly budget = new MessageBudget();
  /**
   * The budget for progress of the participant's calls. A tool may write many lines, which must not use up the budget
   * for messages.
   */
  readonly progressBudget = new MessageBudget(LIMITS.progressBurst, LIMITS.progressPerSecond);

  constructor({ identity, sid, isSip }: RoomParticipant) {
    this.identity = identity;
    this.sid = sid;
    this.isSip = isSip;
  }

  /** BCP 47; `undefined` while unknown. */
  get language(): string | undefined {
    return this.chosenLanguage ?? this.#preferredLanguage;
  }

  /** Sets the language from a Configuration. @returns whether it replaced a language chosen by `set_language` */
  preferLanguage(language: string): boolean {
    const before = this.#preferredLanguage ?? language;
    const isAnother = language !== before && this.chosenLanguage !== undefined;
    if (isAnother) this.chosenLanguage = undefined;
    this.#preferredLanguage = language;
    return isAnother;
  }

  /** Whether the client claims `either` calls by acknowledging them. */
  get claims(): boolean {
    return this.features.has("claims");
  }

  /** The tools that the client has announced; `undefined` while unknown. */
  get tools(): Tools | undefined {
    this.readAnnouncement();
    return this.#tools;
  }

  /**
   * Sets how to read the announced tool list; `read` returns `undefined` if no list was announced. `read` is called
   * only when the list is first needed, so of several lists in a row only the last one is read.
   */
  announce(read: () => Tools | undefined): void {
    this.#readTools = read;
  }

  readAnnouncement(): void {
    const read = this.#readTools;
    this.#readTools = undefined;
    if (read) this.#tools = read();
  }

  /** @returns whether this is a new join, after which stanza numbers start again */
  join({ sid }: RoomParticipant): boolean {
    const isNewJoin = !this.isPresent || (this.sid !== "" && sid !== "" && sid !== this.sid);
    if (isNewJoin) {
      this.joins += 1;
      this.forgetStanzas();
      this.hasCaughtUp = false;
    }
    if (sid !== "" || isNewJoin) this.sid = sid;
    this.isPresent = true;
    return isNewJoin;
  }

  /** Lets the client count from 1 again. Messages that must not be handled twice are also recognized by id. */
  forgetStanzas(): void {
    this.#seenStanzas = new Set();
    this.#storing = new Map();
  }

  /** @returns false if this stanza already arrived in this join */
  takeStanza(stanzaId: number): boolean {
    if (this.#seenStanzas.has(stanzaId)) return false;
    this.#seenStanzas.add(stanzaId);
    evictOldest(this.#seenStanzas, REMEMBERED_STANZAS);
    return true;
  }

  /** Records that the message of this stanza is being stored. */
  trackStoring(stanzaId: number, storing: Promise<void>): void {
    const all = this.#storing;
    all.set(stanzaId, storing);
    evictOldest(all, REMEMBERED_STANZAS);
    storing.then(
      () => all.delete(stanzaId),
      () => {},
    );
  }

  /**
   * Calls `onStored` once the stanza's message is stored. Calls it at once if the message does not have to be stored,
   * and never if storing failed.
   */
  whenStored(stanzaId: number, onStored: () => void): void {
    const storing = this.#storing.get(stanzaId);
    if (storing) void storing.then(onStored, () => {});
    else onStored();
  }
}
