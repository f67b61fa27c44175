// The connection of tests to several machines. What a session is set to is known on the first one
// alone, so each statement runs in a transaction that tells all of them which workspace it is of.
import pg from 'pg';

export class SpreadClient extends pg.Client {
  #tenant: number | undefined;
  #isInTransaction = false;
  #last: Promise<unknown> = Promise.resolve();

  /** Undefined: of all workspaces. */
  enter(tenant: number | undefined): void {
    this.#tenant = tenant;
  }

  // biome-ignore lint/suspicious/noExplicitAny: the driver has a dozen forms of it.
  override query(...args: any[]): any {
    const one = this.#last.then(() => this.#run(args));
    this.#last = one.catch(() => {});
    return one;
  }

  async #run(args: unknown[]): Promise<unknown> {
    const text = typeof args[0] === 'string' ? args[0].trim() : '';
    const send = (...wanted: unknown[]) =>
      (super.query as (...all: unknown[]) => Promise<unknown>).apply(this, wanted);
    const tell = () => send(`set local app.tenant = '${this.#tenant}'`);
    if (/^(commit|rollback)\b(?! to)/i.test(text)) {
      this.#isInTransaction = false;
      return send(...args);
    }
    if (/^begin\b/i.test(text)) {
      this.#isInTransaction = true;
      const begun = await send(...args);
      if (this.#tenant !== undefined) await tell();
      return begun;
    }
    if (this.#tenant === undefined || this.#isInTransaction || /^set\b/i.test(text)) {
      return send(...args);
    }
    await send('begin');
    try {
      await tell();
      const result = await send(...args);
      await send('commit');
      return result;
    } catch (error) {
      await send('rollback');
      throw error;
    }
  }
}

/** The owner of the tables works for one tenant meanwhile, bound by nothing else. */
export async function inTenant(
  sql: pg.Client,
  tenantId: number,
  work: () => Promise<unknown>,
): Promise<void> {
  if (sql instanceof SpreadClient) sql.enter(tenantId);
  else await sql.query("select set_config('app.tenant', $1, false)", [String(tenantId)]);
  await work();
  if (sql instanceof SpreadClient) sql.enter(undefined);
  else await sql.query("select set_config('app.tenant', '', false)");
}
