import type { Session } from "./_open-session.ts";

/**
 * Finds privileges that a read-only transaction does not take away, such as those to use the server's files and
 * programs, to signal other sessions, or to bypass row policies. A query can change its role with set_config, so every
 * role that the session's role may become is checked, too.
 */
const ROLE_FAULTS = `
with reachable as (
  select * from pg_catalog.pg_roles where pg_catalog.pg_has_role(session_user, oid, 'member')
)
select
  exists (select from reachable where rolsuper) as "is a superuser",
  exists (select from reachable where rolreplication) as "may replicate the server",
  exists (select from reachable where rolbypassrls) as "bypasses row level security",
  exists (select from reachable where rolcreaterole) as "may create roles",
  exists (select from reachable where rolname in ('pg_execute_server_program', 'pg_read_server_files',
    'pg_write_server_files', 'pg_write_all_data', 'pg_signal_backend', 'pg_maintain', 'pg_create_subscription')
  ) as "is a member of a privileged pg_ role",
  exists (select from pg_catalog.pg_class join reachable on reachable.oid = relowner) as "owns tables",
  exists (select from pg_catalog.pg_database join reachable on reachable.oid = datdba
    where datname = pg_catalog.current_database()) as "owns the database",
  exists (
    select from pg_catalog.pg_proc
    where pronamespace = 'pg_catalog'::regnamespace
      and proname in ('pg_read_file', 'pg_read_binary_file', 'pg_ls_dir', 'lo_import', 'lo_export')
      and pg_catalog.has_function_privilege(oid, 'execute')
  ) as "may use the server's files"`;

/**
 * Refuses a role that can do more than read. Checks it on every call, because grants change. @throws {Error} if the
 * role is refused
 */
export async function refusePowerfulRole(session: Session): Promise<void> {
  const [faults] = await session.query<Record<string, string>>(ROLE_FAULTS);
  const found = Object.entries(faults ?? { "could not be checked": "t" }).filter(([, isTrue]) => isTrue !== "f");
  if (found.length === 0) return;
  const reasons = found.map(([reason]) => reason).join(", ");
  throw new Error(`database_query refuses to run because its database role ${reasons}`);
}
