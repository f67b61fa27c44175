import { readFileSync } from 'node:fs';

const file = new URL('../../package.json', import.meta.url);
const described = JSON.parse(readFileSync(file, 'utf8')) as { version: string; private?: boolean };

export const programVersion = described.version;

/** A clone has the sources and scripts of npm; the npm package has neither, and is not private. */
export const isClone = described.private === true;

/** What an operator types before the name of a command. */
export const typedBefore = isClone ? 'npm run billwright --' : 'npx billwright';
