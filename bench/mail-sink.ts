// A mail server in a process of its own that takes every mail and forgets it. Prints its port, and
// how many it took when it is asked to end.
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

let taken = 0;
const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS', 'AUTH'],
  disableReverseLookup: true,
  onData(stream, _session, done) {
    stream.resume();
    stream.on('end', () => {
      taken += 1;
      done();
    });
  },
});
server.on('error', () => {});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.server.address() as AddressInfo;
  process.stdout.write(`${port}\n`);
});
process.on('SIGTERM', () => {
  process.stdout.write(`${taken}\n`, () => process.exit(0));
});
