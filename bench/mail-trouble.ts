// A mail server in a process of its own that is in trouble when it is told to be: it answers late,
// puts mails off, or closes the connection when it has all of a mail.
import { createServer, type Socket } from 'node:net';

export type Trouble = 'none' | 'slow' | 'refusing' | 'cutting';

const slowMs = 500;
let trouble: Trouble = 'none';

function converse(socket: Socket): void {
  let heard = '';
  let isMail = false;
  const say = (line: string) => {
    const answer = () => socket.writable && socket.write(`${line}\r\n`);
    if (trouble === 'slow') setTimeout(answer, slowMs);
    else answer();
  };
  const take = (line: string) => {
    if (isMail) {
      if (line !== '.') return;
      isMail = false;
      if (trouble === 'cutting') socket.destroy();
      else say('250 taken');
      return;
    }
    const word = line.slice(0, 4).toUpperCase();
    isMail = word === 'DATA';
    if (isMail) say('354 go on');
    else if (word === 'RCPT' && trouble === 'refusing') say('451 later');
    else if (word === 'QUIT') socket.end('221 bye\r\n');
    else say('250 ok');
  };
  socket.on('error', () => {});
  socket.setEncoding('latin1').on('data', (text) => {
    const lines = (heard + String(text)).split('\r\n');
    heard = lines.pop() ?? '';
    for (const line of lines) take(line);
  });
  say('220 ready');
}

const server = createServer(converse).listen(0, '127.0.0.1', () => {
  process.send?.(server.address());
});
process.on('message', (told: Trouble) => {
  trouble = told;
});
process.on('disconnect', () => process.exit(0));
