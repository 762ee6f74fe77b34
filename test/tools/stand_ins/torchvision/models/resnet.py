"""A small model in the shape of a residual network, with weights of noise."""
import enum

from torch import nn


class ResNet18_Weights(enum.Enum):
    DEFAULT = 1


class Block(nn.Module):
    def __init__(self, channels):
        self.conv1, self.bn1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels)
        self.relu = nn.ReLU()

    def forward(self, x):
        return self.relu(self.bn1(self.conv1(x)) + x)


class ResNet(nn.Module):
    def __init__(self):
        self.conv1, self.bn1 = nn.Conv2d(3, 8, 7, stride=4, padding=3, bias=False), nn.BatchNorm2d(8)
        self.relu, self.maxpool = nn.ReLU(), nn.MaxPool2d(3, stride=2, padding=1)
        self.layer1, self.layer2 = Block(8), Block(8)
        self.avgpool, self.fc = nn.AdaptiveAvgPool2d((1, 1)), nn.Linear(8, 10)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.avgpool(self.layer2(self.layer1(x)))
        return self.fc(x.flatten(1))


def resnet18(weights=None):
    del weights
    return ResNet()
