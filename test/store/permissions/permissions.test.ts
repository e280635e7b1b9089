import { expect, test } from "vitest";
import { createId } from "../../../src/lib/id.ts";
import { endPermission, insertPermission, withdrawPermissions } from "../../../src/store/permissions/ask-permission.ts";
import { extendPermission } from "../../../src/store/permissions/extend-permission.ts";
import { deleteGrant, listGrants } from "../../../src/store/permissions/grants.ts";
import { listenEvents } from "../../../src/store/events.ts";
import {
  type PermissionRecord,
  loadOpenPermissions,
  loadPermission,
} from "../../../src/store/permissions/load-permissions.ts";
import {
  PERMISSION_CHANNEL,
  replyToPermission,
  type PermissionDecision,
  type PermissionReply,
} from "../../../src/store/permissions/reply-to-permission.ts";
import { endedCall } from "../../../src/conversation/call.ts";
import { loadCall, saveCall } from "../../../src/store/calls.ts";
import { failure } from "../../../src/tool/outcome.ts";
import { tempDatabase } from "../../support/servers/temp-database.ts";
import { newPermission, storedPermission, writerOf } from "../store-fixtures.ts";
import { forFile } from "../../support/lifetimes.ts";

const database = forFile(tempDatabase);

const APPROVE: PermissionDecision = { kind: "approve", isAlways: false };
const ALWAYS: PermissionDecision = { kind: "approve", isAlways: true };
const REJECT: PermissionDecision = { kind: "reject", message: "Not today" };

function reply({ id, sessionId }: PermissionRecord, changes: Partial<PermissionReply> = {}): PermissionReply {
  return { permissionId: id, sessionId, by: "ann", via: "data", decision: APPROVE, ...changes };
}

test("a request is stored as it was made, with the time that is left", async () => {
  const { writer, permission } = await newPermission(database.sql);
  const { waitMs, whileRunning: _, ...kept } = permission;

  const stored = await insertPermission(writer, permission);

  expect(stored).toEqual({
    ...kept,
    sessionId: writer.lease.sessionId,
    detail: "full",
    state: "asked",
    isAlways: false,
    message: null,
    editedInput: null,
    repliedBy: null,
    repliedVia: null,
    createdAt: expect.any(Number),
    expiresAt: stored.createdAt + waitMs,
    repliedAt: null,
    leftMs: expect.any(Number),
  });
  expect(stored.leftMs).toBeGreaterThan(waitMs - 5_000);
  expect(stored.leftMs).toBeLessThanOrEqual(waitMs);
});

test("a call has only one request, the first", async () => {
  const { writer, permission } = await newPermission(database.sql);
  const first = await insertPermission(writer, permission);

  const again = await insertPermission(writer, { ...permission, id: createId(), waitMs: 1 });

  expect(again).toMatchObject({ id: first.id, expiresAt: first.expiresAt });
});

test.each([
  ["approve", APPROVE, { state: "approved", isAlways: false, message: null }],
  ["reject with a message", REJECT, { state: "rejected", isAlways: false, message: "Not today" }],
  [
    "approve edited arguments",
    { ...APPROVE, edited: { input: { path: "b.md" }, patterns: ["b.md"] } },
    { state: "approved", editedInput: { path: "b.md" } },
  ],
] as const)("%s is stored with who answered and how", async (_, decision, expected) => {
  const permission = await storedPermission(database.sql);

  const decided = await replyToPermission(database.sql, reply(permission, { decision, via: "http" }));

  expect(decided).toMatchObject({ ...expected, repliedBy: "ann", repliedVia: "http", repliedAt: expect.any(Number) });
  const stored = await loadPermission(database.sql, { permissionId: permission.id });
  expect({ ...stored, leftMs: 0 }).toEqual({ ...(decided as PermissionRecord), leftMs: 0 });
});

test("of many simultaneous answers, one wins and the others learn that it was answered", async () => {
  const permission = await storedPermission(database.sql);
  const decisions = [APPROVE, REJECT, ALWAYS, REJECT, APPROVE];

  const results = await Promise.all(
    decisions.map((decision) => replyToPermission(database.sql, reply(permission, { decision }))),
  );

  expect(results.filter((result) => result === "answered")).toHaveLength(4);
  const winner = results.find((result) => typeof result === "object");
  expect(await loadPermission(database.sql, { permissionId: permission.id })).toMatchObject({ state: winner?.state });
});

test("an answer by somebody else, to another session or to nothing changes nothing", async () => {
  const permission = await storedPermission(database.sql);

  expect(await replyToPermission(database.sql, reply(permission, { by: "ben" }))).toBe("not_asked");
  expect(await replyToPermission(database.sql, reply(permission, { sessionId: "other" }))).toBe("unknown");
  expect(await replyToPermission(database.sql, reply(permission, { permissionId: "other" }))).toBe("unknown");
  expect(await loadPermission(database.sql, { permissionId: permission.id })).toMatchObject({ state: "asked" });
});

test("an answer after the deadline is too late, even if nobody has closed the request yet", async () => {
  const permission = await storedPermission(database.sql, { waitMs: 0 });

  expect(permission.leftMs).toBe(0);
  expect(await replyToPermission(database.sql, reply(permission))).toBe("answered");
});

const expired = ({ id: permissionId, expiresAt }: Pick<PermissionRecord, "id" | "expiresAt">) =>
  ({ permissionId, state: "expired", expiresAt }) as const;

test("a closed request accepts no answer, and an answered one is not closed", async () => {
  const closed = await storedPermission(database.sql);
  const answered = await storedPermission(database.sql);
  await replyToPermission(database.sql, reply(answered));

  expect(
    await endPermission(writerOf(database.sql, closed.sessionId), { permissionId: closed.id, state: "withdrawn" }),
  ).toMatchObject({
    state: "withdrawn",
    repliedBy: null,
  });
  expect(await replyToPermission(database.sql, reply(closed))).toBe("answered");
  expect(await endPermission(writerOf(database.sql, answered.sessionId), expired(answered))).toMatchObject({
    state: "approved",
  });
  expect(
    await endPermission(writerOf(database.sql, closed.sessionId), expired({ id: "none", expiresAt: Date.now() })),
  ).toBeUndefined();
});

async function endCallOf({ sessionId, callId }: PermissionRecord): Promise<void> {
  const call = await loadCall(database.sql, { sessionId, callId });
  if (!call) throw new TypeError("The permission's call is not stored");
  await saveCall(writerOf(database.sql, sessionId), endedCall(call, failure("cancelled", "Stopped")));
}

test("of a simultaneous approval and end exactly one counts, and the answer says which", async () => {
  for (let round = 0; round < 30; round++) {
    const permission = await storedPermission(database.sql);
    const approve = () => replyToPermission(database.sql, reply(permission));
    const end =
      round % 2 === 0
        ? () =>
            endPermission(writerOf(database.sql, permission.sessionId), {
              permissionId: permission.id,
              state: "withdrawn",
            })
        : () => endCallOf(permission);
    // The approval and the end take turns in starting first. Otherwise, the same one would always win.
    const [answer] =
      round % 4 < 2 ? await Promise.all([approve(), end()]) : (await Promise.all([end(), approve()])).toReversed();

    const stored = await loadPermission(database.sql, { permissionId: permission.id });
    const state = typeof answer === "object" ? "approved" : answer;
    expect([state, stored?.state]).toEqual(state === "approved" ? ["approved", "approved"] : ["answered", "withdrawn"]);
  }
});

test.each([
  [60_000, "withdrawn"],
  [0, "expired"],
])("the end of its call (%i ms left) ends an open request as %s, and leaves an answered one", async (waitMs, state) => {
  const open = await storedPermission(database.sql, { waitMs });
  const answered = await storedPermission(database.sql);
  await replyToPermission(database.sql, reply(answered));
  for (const permission of [open, answered]) await endCallOf(permission);

  expect(await loadPermission(database.sql, { permissionId: open.id })).toMatchObject({ state });
  expect(await loadPermission(database.sql, { permissionId: answered.id })).toMatchObject({ state: "approved" });
  expect(await replyToPermission(database.sql, reply(open))).toBe("answered");
});

test("only requests that can still be answered are listed, oldest first", async () => {
  const first = await storedPermission(database.sql);
  const { sessionId } = first;
  const second = await storedPermission(database.sql, { sessionId });
  const answered = await storedPermission(database.sql, { sessionId });
  await replyToPermission(database.sql, reply(answered));
  await storedPermission(database.sql, { sessionId, waitMs: 0 });
  await storedPermission(database.sql);

  const open = await loadOpenPermissions(database.sql, { sessionId });

  expect(open.map(({ id }) => id)).toEqual([first.id, second.id]);
});

test("always grants each pattern for this identity and tool, once, and only this identity can revoke it", async () => {
  const by = `ann-${createId()}`;
  const asked = { participantIdentity: by, pattern: ["notes/*", "todo.md"] };
  for (const pattern of [asked.pattern, ["todo.md"]]) {
    const permission = await storedPermission(database.sql, { ...asked, pattern });
    await replyToPermission(database.sql, reply(permission, { by, decision: ALWAYS }));
  }

  const grants = await listGrants(database.sql, { identity: by });
  expect(grants.map(({ toolName, pattern }) => `${toolName} ${pattern}`).toSorted()).toEqual([
    "write notes/*",
    "write todo.md",
  ]);
  const grantId = grants[0]?.id ?? "";
  expect(await deleteGrant(database.sql, { identity: "ben", grantId })).toBe(false);
  expect(await deleteGrant(database.sql, { identity: by, grantId })).toBe(true);
  expect(await deleteGrant(database.sql, { identity: by, grantId })).toBe(false);
  expect(await listGrants(database.sql, { identity: by })).toHaveLength(1);
});

test("withdrawing a call's requests also returns those that the call's stored end has withdrawn", async () => {
  const permission = await storedPermission(database.sql);
  const { id, callId, sessionId } = permission;
  await endCallOf(permission);

  const withdrawn = await withdrawPermissions(writerOf(database.sql, sessionId), { callId });

  expect(withdrawn.map((each) => [each.id, each.state])).toEqual([[id, "withdrawn"]]);
});

test("a single approval and a refusal grant nothing", async () => {
  const by = `ann-${createId()}`;
  for (const decision of [APPROVE, REJECT]) {
    const permission = await storedPermission(database.sql, { participantIdentity: by });
    await replyToPermission(database.sql, reply(permission, { by, decision }));
  }

  expect(await listGrants(database.sql, { identity: by })).toEqual([]);
});

test("listeners are notified of an answer that wins, and not of one that loses", async () => {
  const permission = await storedPermission(database.sql);
  const heard: string[] = [];
  const listening = Promise.withResolvers<void>();
  const last = await storedPermission(database.sql);
  const lastHeard = Promise.withResolvers<void>();
  const listener = listenEvents({
    listenUrl: database.url,
    channel: PERMISSION_CHANNEL,
    sql: database.sql,
    onEvent: (sessionId, permissionId) => {
      heard.push(`${sessionId} ${permissionId}`);
      if (permissionId === last.id) lastHeard.resolve();
    },
    onListening: () => listening.resolve(),
    onError: (error) => lastHeard.reject(error),
  });
  await listening.promise;

  await replyToPermission(database.sql, reply(permission, { by: "ben" }));
  await replyToPermission(database.sql, reply(permission));
  await replyToPermission(database.sql, reply(permission));
  await replyToPermission(database.sql, reply(last));
  await lastHeard.promise;
  await listener.close();

  expect(heard).toEqual([permission, last].map(({ sessionId, id }) => `${sessionId} ${id}`));
});

const extend = ({ id: permissionId, sessionId }: PermissionRecord, changes: object = {}) =>
  extendPermission(database.sql, { permissionId, sessionId, by: "ann", waitMs: 60_000, ...changes });
const madeAt = (permission: PermissionRecord, ago: string) => database.sql`
  update permissions set created_at = now() - ${ago}::interval, expires_at = now() + interval '5 seconds'
  where id = ${permission.id}`;

test("an open request gets its whole time again, and does not expire before that", async () => {
  const permission = await storedPermission(database.sql);
  await madeAt(permission, "55 seconds");

  const extended = await extend(permission);

  expect(extended?.leftMs).toBeGreaterThan(55_000);
  const end = (expiresAt = 0) =>
    endPermission(writerOf(database.sql, permission.sessionId), expired({ ...permission, expiresAt }));
  expect(await end(Date.now() + 5_000)).toMatchObject({ state: "asked", expiresAt: extended?.expiresAt });
  expect(await end(extended?.expiresAt)).toMatchObject({ state: "expired" });
});

test("a request is open for at most eleven times as long as without more time", async () => {
  const permission = await storedPermission(database.sql);
  await madeAt(permission, "10 minutes 30 seconds");

  const last = await extend(permission);

  expect(last?.leftMs).toBeGreaterThan(25_000);
  expect(last?.leftMs).toBeLessThanOrEqual(30_000);
  expect(await extend(permission)).toBeUndefined();
});

test("a request with extra time gets more once a tenth of that has passed, and says when", async () => {
  const permission = await storedPermission(database.sql);
  const more = { waitMs: 600_000 };
  const first = await extend(permission, more);

  const again = await extend(permission, more);
  await database.sql`
    update permissions set created_at = created_at - interval '1 minute', expires_at = expires_at - interval '1 minute'
    where id = ${permission.id}`;
  const later = await extend(permission, more);

  expect(first).not.toHaveProperty("retryAfterMs");
  expect(again).toMatchObject({ expiresAt: first?.expiresAt, retryAfterMs: expect.any(Number) as number });
  expect(again?.retryAfterMs).toBeGreaterThan(30_000);
  expect(again?.retryAfterMs).toBeLessThanOrEqual(60_000);
  expect(later).not.toHaveProperty("retryAfterMs");
});

test("only the approver of an open request gets more time", async () => {
  const [answered, expired] = [
    await storedPermission(database.sql),
    await storedPermission(database.sql, { waitMs: 0 }),
  ];
  await replyToPermission(database.sql, reply(answered));

  expect(await extend(answered)).toBeUndefined();
  expect(await extend(expired)).toBeUndefined();
  expect(await extend(await storedPermission(database.sql), { by: "bob" })).toBeUndefined();
});
