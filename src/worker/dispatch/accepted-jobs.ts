export interface AcceptedJob {
  readonly id: string;
  readonly room: string;
  /** The agent's identity in the room. */
  readonly identity: string;
}

/**
 * How long an accepted job may take to start. If many jobs are accepted at once, some wait long, because processes
 * start one at a time.
 */
const START_LIMIT_MS = 60_000;

/**
 * The jobs that this worker has accepted and that have not ended. The list in LiveKit's AgentServer is not enough: it
 * contains a job only while the job's process runs, so a job missing there may not have started yet, or its process may
 * have died.
 */
export class AcceptedJobs {
  readonly #jobs = new Map<string, AcceptedJob & { readonly acceptedAt: number; hasRun: boolean }>();
  readonly #max: number;
  readonly #now: () => number;
  #fullUntil = Number.NEGATIVE_INFINITY;

  constructor(max: number, now: () => number = () => performance.now()) {
    this.#max = max;
    this.#now = now;
  }

  get size(): number {
    return this.#jobs.size;
  }

  get isFull(): boolean {
    return this.size >= this.#max;
  }

  /** Whether all slots are taken, or were at any moment in the last `ms` milliseconds. */
  wasFullWithin(ms: number): boolean {
    return this.isFull || this.#now() - this.#fullUntil < ms;
  }

  hasRoom(room: string): boolean {
    return [...this.#jobs.values()].some((job) => job.room === room);
  }

  add(job: AcceptedJob): void {
    this.#jobs.set(job.id, { ...job, acceptedAt: this.#now(), hasRun: false });
  }

  /**
   * Records that a process has received the job. From then on, the job counts as ended as soon as it is not running.
   */
  markLaunched(id: string): void {
    const job = this.#jobs.get(id);
    if (job) job.hasRun = true;
  }

  /** Updates which jobs are running. Removes and returns the jobs that have ended, or did not start in time. */
  takeEnded(running: ReadonlySet<string>): AcceptedJob[] {
    const ended: AcceptedJob[] = [];
    for (const job of this.#jobs.values()) {
      if (running.has(job.id)) job.hasRun = true;
      else if (job.hasRun || this.#now() - job.acceptedAt > START_LIMIT_MS) {
        if (this.isFull) this.#fullUntil = this.#now();
        this.#jobs.delete(job.id);
        ended.push(job);
      }
    }
    return ended;
  }
}
