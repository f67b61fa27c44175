import { Client } from 'pg';

export type Connection = { host: string; port: number; user: string; database: string };

const connectLimitMs = 10_000;

export function superuserAt(socketFolder: string): Connection {
  return { host: socketFolder, port: 5432, user: 'postgres', database: 'postgres' };
}

// A lost connection must never end the program by an unheard 'error': the next query fails instead.
export async function connect(connection: Connection, applicationName: string): Promise<Client> {
  const client = new Client({
    ...connection,
    application_name: applicationName,
    ssl: false,
    // Limits that an operator sets for everybody must not end a session that only holds a lock.
    options: '-c idle_session_timeout=0 -c statement_timeout=0 -c lock_timeout=0',
    connectionTimeoutMillis: connectLimitMs,
  });
  client.on('error', () => {});
  try {
    await client.connect();
  } catch (error) {
    await client.end().catch(() => {});
    throw error;
  }
  return client;
}

// Whether an error means that the server is starting, recovering or stopping (57P..), or went away
// while it was asked, rather than that it answered no. The driver's own errors have only a message.
export function isGone(error: unknown): boolean {
  const { code, message } = error as { code?: string; message: string };
  if (code?.startsWith('57P')) return true;
  const codes = ['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'EAGAIN'];
  if (code !== undefined) return codes.includes(code);
  return /^(Connection terminated|timeout expired|Client (has|was))/.test(message);
}
