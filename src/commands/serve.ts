import type { Database } from '../base/db/pool.ts';
import type { Config } from '../config.ts';
import { openApiDatabase, openContext, prepareDatabase } from '../context.ts';
import { assertMayListen, listen } from './listen.ts';
import { forgetAddress } from './server-address.ts';
import { expectStop, stopInOrder } from './shutdown.ts';

/** Answers calls; jobs are worked on by `work` processes. */
export async function serve(config: Config): Promise<void> {
  const requests = expectStop(config);
  const context = await openContext(config, { use: 'join' });
  let database: Database | undefined;
  try {
    await prepareDatabase(context);
    const opened = openApiDatabase(context);
    database = opened;
    await assertMayListen(context);
    const server = await listen(context, opened);
    stopInOrder(requests, context.log, [
      () => forgetAddress(config),
      () => server.close(),
      () => opened.close(),
      context.close,
    ]);
    context.log.info({ address: server.addresses() }, 'ready');
  } catch (error) {
    await database?.close();
    await context.close();
    throw error;
  }
}
