import { describeVolume } from './volume.ts';

describeVolume('512 MiB', 512 * 1024 ** 2).timeout(60_000);
