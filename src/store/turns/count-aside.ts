import { writeHeld, type SessionWriter } from "../sessions/session-writer.ts";

/** One more sentence of the turn's answer that is in none of its blocks. */
export async function countAside(writer: SessionWriter, { turnId }: { turnId: string }): Promise<void> {
  await writeHeld(writer, writer.sql`update turns set asides = asides + 1 from held where id = ${turnId} returning id`);
}
