// The address of the server that uses a data folder, for other commands. The server writes its port
// to the folder; the port of a server that has ended is ignored.
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { writeWholeFile } from '../base/whole-file.ts';
import type { Config } from '../config.ts';
import type { Context } from '../context.ts';

type Note = { host: string; port: number; pid: number };

const answerMs = 2_000;

function noteOf({ dataFolder }: Config): string {
  return join(dataFolder, 'server.json');
}

export function portOf(server: FastifyInstance, { port }: Config): number {
  const address = server.server.address();
  return typeof address === 'object' && address ? address.port : port;
}

/** If the folder cannot be written, the server runs all the same. */
export async function noteAddress(server: FastifyInstance, context: Context): Promise<void> {
  const { config, log } = context;
  const note: Note = { host: config.host, port: portOf(server, config), pid: process.pid };
  try {
    await mkdir(config.dataFolder, { recursive: true });
    await writeWholeFile(noteOf(config), [`${JSON.stringify(note)}\n`], 0o644);
  } catch (error) {
    log.debug({ err: error }, 'the address of the server could not be written to the data folder');
  }
}

/** Another server may have noted its own address since. */
export async function forgetAddress(config: Config): Promise<void> {
  const note = await readNote(config);
  if (note?.pid === process.pid) await rm(noteOf(config), { force: true });
}

/** The port of the server that runs on the data folder; undefined if none answers. */
export async function findRunningPort(config: Config): Promise<number | undefined> {
  const note = await readNote(config);
  if (!note) return undefined;
  // A server that listens on all addresses answers on loopback.
  const host = note.host === '0.0.0.0' ? '127.0.0.1' : note.host === '::' ? '[::1]' : note.host;
  const url = `http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}`;
  try {
    const answer = await fetch(`${url}:${note.port}/health`, {
      signal: AbortSignal.timeout(answerMs),
    });
    const { status } = (await answer.json()) as { status?: unknown };
    return status === 'up' ? note.port : undefined;
  } catch {
    return undefined;
  }
}

async function readNote(config: Config): Promise<Note | undefined> {
  try {
    const note = JSON.parse(await readFile(noteOf(config), 'utf8')) as Note;
    return Number.isInteger(note.port) && typeof note.host === 'string' ? note : undefined;
  } catch {
    return undefined;
  }
}
