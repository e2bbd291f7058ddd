import { describeVolume } from './volume.ts';

describeVolume('2 GiB', 2 * 1024 ** 3).timeout(300_000);
