// The whole program on a data folder of its own, with a mail server, and a hand that kills its
// processes and sees to it that they run again.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { SMTPServer } from 'smtp-server';
import type { Place } from './checks.ts';
import {
  kill,
  openPlace,
  type Program,
  postmasterPid,
  processesIn,
  until,
  workersIn,
} from './program.ts';

export const targets = ['worker', 'program', 'PostgreSQL'] as const;
export type Target = (typeof targets)[number];

export type Supervisor = {
  place: Place;
  dataFolder: string;
  /** Of the program that runs now. */
  baseUrl(): string;
  /** Rows of a statement, asked again as long as PostgreSQL is away. */
  // biome-ignore lint/suspicious/noExplicitAny: rows are whatever the statement says.
  rows(text: string, values?: readonly unknown[]): Promise<any[]>;
  /** Kills it with SIGKILL in one of its ways, and starts what does not start by itself. */
  kill(target: Target, random: () => number): Promise<string>;
  /** Until a worker is there, and PostgreSQL answers. */
  recovered(): Promise<void>;
  /** Ids of the mails that the mail server has taken, as often as it took them. */
  taken: string[];
  /** Runs a command of the program to its end. */
  command(args: readonly string[]): Promise<{ code: number | null; output: string }>;
  /** What the program, and those before it, have printed. */
  output(): string;
};

/** Mails that a worker has on their way at the same time. */
export const mailConnections = 10;

export async function openSupervisor(env: Record<string, string> = {}): Promise<Supervisor> {
  const place = await openPlace('file');
  const { dataFolder } = place;
  const mails = await openSink();
  const settings = {
    SMTP_URL: mails.url,
    SMTP_CONNECTIONS: String(mailConnections),
    MAIL_FROM: 'billing@city.example',
    SCHEDULE_WAIT_SECONDS: '0',
    ...env,
  };
  const earlier: Program[] = [];
  let baseUrl = '';
  const start = async () => {
    const program = place.run(['start'], settings);
    earlier.push(program);
    baseUrl = await program.ready();
  };
  await start();
  const current = () => earlier.at(-1) as Program;
  const host = join(dataFolder, 'postgres', 'socket');
  const socket = (user: string) => ({ host, port: 5432, user, database: 'billwright' });
  const cluster = {
    owner: socket('billwright'),
    api: socket('billwright_api'),
    superuser: socket('postgres'),
  };
  const { rows, lost } = patientReader(cluster.superuser);
  const output = () => earlier.map((program) => program.output()).join('\n');
  const greetings = () => output().split('worker ready').length - 1;
  /** How many workers have said that they are ready when one will be there again. */
  let awaited = 1;
  return {
    place: { cluster, databaseName: 'billwright' },
    dataFolder,
    baseUrl: () => baseUrl,
    rows,
    taken: mails.taken,
    output,
    async kill(target, random) {
      const workers = workersIn(place.folder);
      if (target !== 'PostgreSQL') awaited = greetings() + 1;
      if (target === 'worker') {
        for (const pid of workers) kill(pid);
        return 'worker';
      }
      if (target === 'PostgreSQL') {
        return killPostgres({ dataFolder, rows, lost }, random);
      }
      const isAll = random() < 0.5;
      for (const pid of [current().pid, ...workers]) kill(pid);
      if (isAll) for (const { pid } of processesIn(place.folder, 'postgres')) kill(pid);
      await current().exited;
      await start();
      return isAll ? 'program, worker and PostgreSQL' : 'program and worker';
    },
    async recovered() {
      await rows('select 1');
      await until(() => greetings() >= awaited, 'a worker is ready');
    },
    async command(args) {
      const program = place.run(args, settings);
      const { code } = await program.exited;
      await sleep(50);
      return { code, output: program.output() };
    },
  };
}

type Postgres = { dataFolder: string } & ReturnType<typeof patientReader>;

async function killPostgres(
  { dataFolder, rows, lost }: Postgres,
  random: () => number,
): Promise<string> {
  // The postmaster itself; or one of those who serve, which makes it end all others.
  const isMaster = random() < 0.5;
  for (;;) {
    const pid = isMaster ? postmasterPid(dataFolder) : await busyBackend(rows);
    // Whoever is still answered by what is about to end has not seen PostgreSQL come back;
    // and whoever is not connected does not see it go.
    await rows('select 1');
    const isGone = lost().then(() => true);
    kill(pid);
    // A server that has just ended by itself ends no other process.
    if (await Promise.race([isGone, sleep(goneMs, false, { ref: false })])) break;
  }
  return isMaster ? 'postmaster' : 'backend';
}

/** One that works for a worker, or any other that serves a client. */
async function busyBackend(rows: Supervisor['rows']): Promise<number> {
  // Right after PostgreSQL came back there may be none.
  const found = await until(async () => {
    const [one] = await rows(
      `select pid from pg_stat_activity
       where backend_type = 'client backend' and pid <> pg_backend_pid()
       order by application_name = 'billwright worker' desc, state = 'active' desc limit 1`,
    );
    return one;
  }, 'a client is connected');
  return found.pid;
}

const patienceMs = 60_000;
/** Within which PostgreSQL is gone after one of its processes was killed. */
const goneMs = 15_000;

/**
 * By one connection, as long as it lasts: some tests ask forty times a second. It can be told when
 * it is lost.
 */
function patientReader(socket: pg.ClientConfig): {
  rows: Supervisor['rows'];
  lost(): Promise<void>;
} {
  let kept: Promise<pg.Client> | undefined;
  const drop = async () => {
    const client = kept;
    kept = undefined;
    await client?.then((one) => one.end()).catch(() => {});
  };
  after(drop);
  const lost = async () => {
    kept ??= connected(socket);
    const client = await kept;
    await new Promise<void>((resolve) => client.once('end', () => resolve()));
  };
  const rows: Supervisor['rows'] = async (text, values = []) => {
    const deadline = Date.now() + patienceMs;
    for (;;) {
      try {
        kept ??= connected(socket);
        return (await (await kept).query(text, [...values])).rows;
      } catch (error) {
        await drop();
        if (Date.now() > deadline) throw error;
        await sleep(50);
      }
    }
  };
  return { rows, lost };
}

async function connected(socket: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client({ ...socket, connectionTimeoutMillis: 5_000 });
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** Keeps of every mail only its id: there are thousands of them, with a document each. */
async function openSink(): Promise<{ url: string; taken: string[] }> {
  const taken: string[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    disableReverseLookup: true,
    onData(stream, _session, done) {
      let head = '';
      stream.on('data', (bytes: Buffer) => {
        if (head.length < 4_000) head += bytes.toString('latin1');
      });
      stream.on('error', () => {});
      stream.on('end', () => {
        taken.push(/^Message-ID: (\S+)/im.exec(head)?.[1] ?? 'none');
        done();
      });
    },
  });
  // A client that is killed in the middle is what this is about.
  server.on('error', () => {});
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  after(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return { url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`, taken };
}
