import type { Config } from '../config.ts';
import { openApiDatabase, openContext, prepareDatabase } from '../context.ts';
import { assertMayListen, listen } from './listen.ts';
import { expectStop, stopInOrder } from './shutdown.ts';

/** Answers calls; jobs are worked on by `work` processes. */
export async function serve(config: Config): Promise<void> {
  const requests = expectStop();
  const context = await openContext(config, { use: 'join' });
  try {
    await prepareDatabase(context);
    const database = openApiDatabase(context);
    await assertMayListen(context, database);
    const server = await listen(context, database);
    stopInOrder(requests, context.log, [
      () => server.close(),
      () => database.close(),
      context.close,
    ]);
    context.log.info({ address: server.addresses() }, 'ready');
  } catch (error) {
    await context.close();
    throw error;
  }
}
