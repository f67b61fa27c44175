import { runLane } from '../support/lane.ts';

await runLane();
