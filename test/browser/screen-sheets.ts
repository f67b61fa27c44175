// npm run screen-sheets -- [FOLDER] [ADDRESS] [PATTERN]: draws every screen of the demo on a running
// server at three widths, light, dark and from right to left, and puts the pictures on sheets, to be
// looked at. With PATTERN only those screens whose address it matches.
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { createClient } from '../../sdk/client.ts';
import { demoLogin } from '../../src/domain/access/demo-login.ts';
import { chromiumProgram } from '../support/chromium.ts';
import { demoCustomer, putToWork } from '../support/demo-at-work.ts';
import { send } from '../support/http.ts';
import { addressesOf, findInWorkspace, type Screen, screens, settled } from '../support/screens.ts';

const [folder = mkdtempSync(join(tmpdir(), 'screen-sheets-')), address, pattern = ''] =
  process.argv.slice(2);
const base = address ?? `http://${demoLogin.workspace}.localhost:8080`;

const looks = [
  { name: 'light', language: 'en', scheme: 'light' },
  { name: 'dark', language: 'en', scheme: 'dark' },
  { name: 'urdu', language: 'ur', scheme: 'light' },
] as const;
/** Pictures of a width that go beside each other, and how large they are on the sheet. */
const sizes = [
  { width: 1440, height: 900, perSheet: 4, perRow: 2, scale: 0.6 },
  { width: 768, height: 1024, perSheet: 6, perRow: 3, scale: 0.75 },
  { width: 360, height: 780, perSheet: 6, perRow: 6, scale: 0.8 },
] as const;
/** Of longer screens the beginning is drawn. */
const highMax = 1_800;

type Picture = { title: string; file: string };

// The browser knows *.localhost by itself; the machine may not.
const client = createClient({
  baseUrl: base,
  fetch: async (input, init) => {
    const { host, port, pathname } = new URL(String(input));
    const headers = { ...(init?.headers as Record<string, string>), Host: host };
    const answer = await send(new URL(pathname, `http://127.0.0.1:${port}`), {
      ...{ headers, body: String(init?.body) },
    });
    return { ...answer, json: async () => JSON.parse(answer.text) } as unknown as Response;
  },
});
await client.login(demoLogin).then(({ data }) => client.useToken(data.accessToken));
await putToWork(client);
const found = await findInWorkspace(client);
const browser = await chromium.launch({
  executablePath: chromiumProgram() ?? '',
  args: ['--no-sandbox', '--host-resolver-rules=MAP *.localhost 127.0.0.1'],
});
mkdirSync(folder, { recursive: true });
for (const { name, language, scheme } of looks) {
  for (const who of ['visitor', 'staff', 'customer'] as const) {
    const drawn = new Map<number, Picture[]>(sizes.map(({ width }) => [width, []]));
    const context = await browser.newContext({ colorScheme: scheme, reducedMotion: 'reduce' });
    const page = await context.newPage();
    await enter(page, { who, language });
    for (const one of wanted(who)) await draw(page, { one, name, drawn });
    await context.close();
    for (const size of sizes)
      await writeSheets(`${name}-${who}`, drawn.get(size.width) ?? [], size);
  }
}
await browser.close();

function wanted(who: Screen['for']): string[] {
  return screens
    .filter((screen) => screen.for === who)
    .flatMap((screen) => addressesOf(screen, found))
    .filter((one) => new RegExp(pattern).test(one));
}

async function enter(
  page: Page,
  { who, language }: { who: Screen['for']; language: string },
): Promise<void> {
  await page.goto(`${base}/login`);
  await page.evaluate(`localStorage.setItem('billwright-language', '${language}')`);
  if (who === 'visitor') return;
  const { username, password } = who === 'staff' ? demoLogin : demoCustomer;
  const [name, secret] = [page.locator('input').nth(0), page.locator('input').nth(1)];
  await name.fill(username);
  await secret.fill(password);
  await secret.press('Enter');
  await page.waitForURL((url) => url.pathname !== '/login');
}

async function draw(
  page: Page,
  { one, name, drawn }: { one: string; name: string; drawn: Map<number, Picture[]> },
): Promise<void> {
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto(`${base}${one}`);
  for (const { width, height } of sizes) {
    await page.setViewportSize({ width, height });
    await settled(page);
    const high = Number(await page.evaluate('document.documentElement.scrollHeight'));
    const wide = Number(await page.evaluate('document.documentElement.scrollWidth'));
    if (wide > width) console.log(`${name} ${width}: ${one} is ${wide} wide`);
    const file = join(folder, `${name}-${width}${one.replace(/[^\w]+/g, '-')}.png`);
    const clip = { x: 0, y: 0, width, height: Math.min(Math.max(high, height), highMax) };
    await twice(() => page.screenshot({ path: file, fullPage: true, clip }));
    drawn.get(width)?.push({ title: `${width} ${name} ${one}`, file });
  }
}

/** On a busy machine the browser sometimes cannot take a picture at once. */
async function twice<Taken>(take: () => Promise<Taken>): Promise<Taken> {
  try {
    return await take();
  } catch {
    return take();
  }
}

async function writeSheets(
  name: string,
  pictures: readonly Picture[],
  { width, perSheet, perRow, scale }: (typeof sizes)[number],
): Promise<void> {
  const page = await browser.newPage({
    viewport: { width: Math.ceil(width * scale + 12) * perRow, height: 600 },
  });
  for (let first = 0; first < pictures.length; first += perSheet) {
    const cells = pictures
      .slice(first, first + perSheet)
      .map(
        ({ title, file }) =>
          `<div style="width:${width * scale}px;margin:4px"><b>${title}</b><br>` +
          `<img style="width:100%" src="data:image/png;base64,${readFileSync(file, 'base64')}"></div>`,
      );
    const style = 'margin:0;background:#c8c8c8;font:12px sans-serif;display:flex;flex-wrap:wrap';
    await page.setContent(`<body style="${style};align-items:flex-start">${cells.join('')}</body>`);
    const path = join(folder, `sheet-${name}-${width}-${first / perSheet + 1}.png`);
    writeFileSync(path, await twice(() => page.screenshot({ fullPage: true })));
    console.log(path);
  }
  await page.close();
}
