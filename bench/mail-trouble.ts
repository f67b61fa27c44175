// A mail server in its own process that fails on request: it answers late, puts mails off, or
// closes the connection after it has received a mail.
import type { Socket } from 'node:net';
import { SMTPServer } from 'smtp-server';

export type Trouble = 'none' | 'slow' | 'refusing' | 'cutting';

const slowMs = 500;
let trouble: Trouble = 'none';
const sockets = new Map<number, Socket>();

function answer(done: (error?: Error) => void, error?: Error): void {
  if (trouble === 'slow') setTimeout(() => done(error), slowMs);
  else done(error);
}

const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS', 'AUTH'],
  disableReverseLookup: true,
  onConnect: (_session, done) => answer(done),
  onMailFrom: (_address, _session, done) => answer(done),
  onRcptTo(_address, _session, done) {
    const later = Object.assign(new Error('later'), { responseCode: 451 });
    answer(done, trouble === 'refusing' ? later : undefined);
  },
  onData(stream, { remotePort }, done) {
    stream.resume();
    stream.on('end', () => {
      if (trouble === 'cutting') sockets.get(remotePort)?.destroy();
      else answer(done);
    });
  },
});
server.on('error', () => {});
server.server.on('connection', (socket: Socket) => {
  const { remotePort = 0 } = socket;
  sockets.set(remotePort, socket);
  socket.on('close', () => sockets.delete(remotePort));
});
server.listen(0, '127.0.0.1', () => {
  process.send?.(server.server.address());
});
process.on('message', (told: Trouble) => {
  trouble = told;
});
process.on('disconnect', () => process.exit(0));
