// A program on an embedded PostgreSQL, as small as can be: tests start it, kill it and talk to it.
// It prints one line of JSON when it is up, and stops on SIGTERM or when it reads "stop".
import { startEmbedded } from '../../src/base/postgres/embedded.ts';

const options = JSON.parse(process.argv[2] ?? '{}');

try {
  const embedded = await startEmbedded({
    ...options,
    log: (message) => console.error(message),
    onLost: () => console.log(JSON.stringify({ lost: true })),
  });
  const end = async () => {
    await embedded.stop();
    process.exit(0);
  };
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
  process.stdin.on('data', end);
  console.log(JSON.stringify({ ...embedded, pid: process.pid }));
} catch (error) {
  const { name, message } = error as Error;
  console.log(JSON.stringify({ error: name, message }));
  process.exit(1);
}
