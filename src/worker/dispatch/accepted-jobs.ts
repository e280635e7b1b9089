/** A session that this worker said yes to. */
export interface AcceptedJob {
  readonly id: string;
  readonly room: string;
  /** The agent's identity in the room. */
  readonly identity: string;
}

/** How long an accepted job may take to begin: a burst waits for one process after the other. */
const START_LIMIT_MS = 60_000;

/**
 * The jobs that this worker has, from its yes to their end. LiveKit's own list knows a job only once its process
 * runs, and forgets one whose process died.
 */
export class AcceptedJobs {
  readonly #jobs = new Map<string, AcceptedJob & { readonly acceptedAt: number; hasRun: boolean }>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  get size(): number {
    return this.#jobs.size;
  }

  hasRoom(room: string): boolean {
    return [...this.#jobs.values()].some((job) => job.room === room);
  }

  add(job: AcceptedJob): void {
    this.#jobs.set(job.id, { ...job, acceptedAt: this.#now(), hasRun: false });
  }

  /** Takes note of what runs; gives, once, the jobs that ran and do no more, or that never came to run. */
  takeEnded(running: ReadonlySet<string>): AcceptedJob[] {
    const ended: AcceptedJob[] = [];
    for (const job of this.#jobs.values()) {
      if (running.has(job.id)) job.hasRun = true;
      else if (job.hasRun || this.#now() - job.acceptedAt > START_LIMIT_MS) {
        this.#jobs.delete(job.id);
        ended.push(job);
      }
    }
    return ended;
  }
}
