// The letterhead of the demo workspace, with a logo that is drawn here.
import { PNG } from 'pngjs';

export function demoLetterhead(): object {
  return {
    name: 'Demo Utility Company',
    addressLines: ['22 Canal Road', 'Lahore 54000, Pakistan'],
    phone: '+92 42 0000 0000',
    email: 'care@demo.example',
    website: 'www.demo.example',
    taxNumber: '0000000-0',
    color: '#0b5c8a',
    barcodeText: '{{bill.billRefNo}}',
    logo: drawnLogo(),
  };
}

const side = 160;
/** Points of each pixel that are looked at, along each side: edges become smooth. */
const samples = 4;

/** A drop of water with a bolt left out of it, on a transparent ground. */
function drawnLogo(): string {
  const picture = new PNG({ width: side, height: side });
  for (let y = 0; y < side; y++) {
    for (let x = 0; x < side; x++) {
      const share = coveredShare(x, y);
      picture.data.set([11, 92, 138, Math.floor(255 * share)], (y * side + x) * 4);
    }
  }
  return PNG.sync.write(picture).toString('base64');
}

function coveredShare(x: number, y: number): number {
  let covered = 0;
  for (let down = 0; down < samples; down++) {
    for (let across = 0; across < samples; across++) {
      const u = (2 * (x + (across + 0.5) / samples)) / side - 1;
      const v = (2 * (y + (down + 0.5) / samples)) / side - 1;
      if (isInDrop(u, v) && !isInBolt(u, v)) covered++;
    }
  }
  return covered / samples ** 2;
}

/** A disc below, with two straight sides that meet in a tip above. */
function isInDrop(u: number, v: number): boolean {
  const [center, radius, tip] = [0.32, 0.64, -0.98];
  if (u * u + (v - center) ** 2 <= radius * radius) return true;
  // Where the sides touch the disc.
  const sine = radius / (center - tip);
  const touch = center - radius * sine;
  const slope = sine / Math.sqrt(1 - sine * sine);
  return v >= tip && v <= touch && Math.abs(u) <= (v - tip) * slope;
}

const bolt: readonly (readonly [number, number])[] = [
  [0.12, -0.3],
  [-0.3, 0.38],
  [-0.04, 0.38],
  [-0.14, 0.84],
  [0.3, 0.2],
  [0.04, 0.2],
];

/** By how often a ray to the right crosses the sides. */
function isInBolt(u: number, v: number): boolean {
  let isInside = false;
  bolt.forEach(([x, y], index) => {
    const [nextX, nextY] = bolt[(index + 1) % bolt.length] ?? [x, y];
    const crosses = y > v !== nextY > v && u < x + ((v - y) / (nextY - y)) * (nextX - x);
    if (crosses) isInside = !isInside;
  });
  return isInside;
}
