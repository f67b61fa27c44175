import { flushCompileCache } from 'node:module';
import type { FastifyInstance } from 'fastify';
import type { Database } from '../base/db/pool.ts';
import type { Config } from '../config.ts';
import type { Context } from '../context.ts';
import { findOpenWorkspace, isLoopback } from './default-login.ts';
import { demo } from './demo/workspace.ts';
import { noteAddress } from './server-address.ts';

export async function listen(context: Context, database: Database): Promise<FastifyInstance> {
  const { config, clock, log } = context;
  // The larger half of the program: a start that is refused before it listens does without.
  const { createServer } = await import('../http/server.ts');
  const { operations } = await import('../operations/catalogue.ts');
  flushCompileCache();
  const server = createServer({ ...config, database, operations, clock, log });
  try {
    await server.listen({ port: config.port, host: config.host });
  } catch (error) {
    await server.close();
    throw unheard(error as Error & { code?: string }, config);
  }
  await noteAddress(server, context);
  return server;
}

/** Why the server cannot listen at the configured address, and what to change. */
function unheard(error: Error & { code?: string }, { host, port }: Config): Error {
  switch (error.code) {
    case 'EADDRINUSE':
      return new Error(
        `Port ${port} on ${host} is taken by another program. ` +
          'Stop it, or set PORT to another number.',
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new Error(`HOST is '${host}', which is not an address of this machine.`);
    case 'EACCES':
      return new Error(`Port ${port} is closed to this account. Set PORT to a number above 1023.`);
    default:
      return error;
  }
}

/** The README shows the demo's password: it must not guard anything that the network can reach. */
export async function assertMayListen(context: Context): Promise<void> {
  const { host } = context.config;
  if (isLoopback(host)) return;
  const workspace = await findOpenWorkspace(context);
  if (workspace === undefined) return;
  throw new Error(
    `The login ${demo.username} of workspace ${workspace} still has its default password, ` +
      `so Billwright listens on loopback only, not on ${host}. ` +
      'Change the password or suspend the workspace first.',
  );
}
