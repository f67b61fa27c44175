// The console: built files of console/dist, served at the address of every workspace.
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Database } from '../base/db/pool.ts';
import { AppError } from '../base/errors.ts';
import { isLoopback } from '../domain/access/addresses.ts';
import { hasDefaultPassword } from '../domain/access/default-password.ts';
import { demoLogin } from '../domain/access/demo-login.ts';
import type { Workspaces } from './workspace.ts';

const folder = fileURLToPath(new URL('../../console/dist', import.meta.url));

const contentTypes = new Map([
  ['.js', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.svg', 'image/svg+xml'],
  ['.woff2', 'font/woff2'],
  ['.ttf', 'font/ttf'],
]);

/** Nothing of another host, no script in the page; documents are shown from the page's memory. */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; " +
  "img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; frame-src blob:; " +
  "base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

export type Console = {
  /** Answers with the page of the console where a person opened an address of a workspace. */
  answerPage(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined>;
};

export function registerConsole(
  server: FastifyInstance,
  { database, workspaces }: { database: Database; workspaces: Workspaces },
): Console {
  const assets = assetNames();
  server.get('/assets/:name', async (request, reply) => {
    const { name } = request.params as { name: string };
    if (!assets.has(name)) return reply.code(404).send({ status: 'not found' });
    // Names change with their content.
    reply.header('Cache-Control', 'public, max-age=31536000, immutable');
    return sendFile(request, reply, join('assets', name));
  });
  server.get('/console/entry.json', async (request, reply) => {
    const workspace = await workspaceOf(workspaces, request);
    if (workspace === undefined) return reply.code(404).send({ status: 'not found' });
    const isDemo =
      workspace === demoLogin.workspace &&
      isLoopback(request.ip) &&
      (await hasDefaultPassword(database));
    const { username, password } = demoLogin;
    reply.header('Cache-Control', 'no-store');
    return { workspace, demo: isDemo ? { username, password } : null };
  });
  return {
    async answerPage(request, reply) {
      if (assets.size === 0 || request.method !== 'GET') return undefined;
      if (!request.headers.accept?.includes('text/html')) return undefined;
      if ((await workspaceOf(workspaces, request)) === undefined) return undefined;
      reply
        .code(200)
        .header('Content-Security-Policy', contentSecurityPolicy)
        .header('Cache-Control', 'no-cache')
        .header('Referrer-Policy', 'same-origin');
      return sendFile(request, reply, 'index.html');
    },
  };
}

/** Without a build there are none, and the server is the API alone. */
function assetNames(): ReadonlySet<string> {
  try {
    return new Set(readdirSync(join(folder, 'assets')).filter((name) => !name.endsWith('.br')));
  } catch {
    return new Set();
  }
}

async function workspaceOf(
  workspaces: Workspaces,
  { headers }: FastifyRequest,
): Promise<string | undefined> {
  try {
    return (await workspaces.find(headers.host, headers['x-workspace'])).workspace;
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

/** Each file was compressed when it was built. */
async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  name: string,
): Promise<FastifyReply> {
  const isCompressed = /\bbr\b/.test(String(request.headers['accept-encoding'] ?? ''));
  const path = join(folder, name);
  reply.type(contentTypes.get(extname(name)) ?? 'text/html; charset=utf-8');
  reply.header('Vary', 'Accept-Encoding');
  if (!isCompressed) return reply.send(await readFile(path));
  return reply.header('Content-Encoding', 'br').send(await readFile(`${path}.br`));
}
