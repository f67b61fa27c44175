// A connection of its own that hears what others notify.
import pg from 'pg';
import type { Connection } from './pool.ts';

export type Listener = { close(): Promise<void> };

/** A lost connection is opened again after this long. */
const reconnectMs = 1_000;

/**
 * Calls `heard` with the payload of every notification of the channel, and without one each time
 * the connection was made, because notifications sent in between are lost. A notification is a
 * hint: every listener also polls.
 */
export function listen(
  connection: Connection,
  channel: string,
  heard: (payload?: string) => void,
): Listener {
  let isClosing = false;
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  function later(): void {
    if (!isClosing) timer = setTimeout(() => void open(), reconnectMs).unref();
  }
  async function open(): Promise<void> {
    const next = new pg.Client({
      ...('url' in connection
        ? { connectionString: connection.url }
        : { ...connection, ssl: false as const }),
      application_name: 'billwright listener',
      keepAlive: true,
    });
    client = next;
    let isLost = false;
    const lose = () => {
      if (isLost) return;
      isLost = true;
      next.end().catch(() => {});
      later();
    };
    next.on('error', lose);
    next.on('end', lose);
    next.on('notification', ({ payload }) => heard(payload));
    try {
      await next.connect();
      await next.query(`listen ${pg.escapeIdentifier(channel)}`);
      heard();
    } catch {
      lose();
    }
  }
  void open();
  return {
    async close() {
      isClosing = true;
      clearTimeout(timer);
      await client?.end().catch(() => {});
    },
  };
}
